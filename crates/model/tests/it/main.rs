//! The client against a stand-in that misbehaves, the server against raw HTTP, and both against each other.

mod client;
mod client_stream;
mod exchanges;
mod faults;
mod long_numbers;
mod metering;
mod ollama;
mod protocol;
mod recording;
mod round_trip;
mod scripted;
mod served_protocols;
mod server;
mod server_completions;
mod server_stream;
mod stand_in;
mod stream_shapes;
mod turn_state;
