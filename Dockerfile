# planproof in a small image: `docker run --rm -v "$PWD:/work" planproof demo`. An agent of the kind `command:` or `worker:`
# needs its interpreter beside it: build your image FROM this one, or copy /usr/local/bin/planproof into yours.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/source/target \
    cargo build --profile dist --locked --package planproof && cp target/dist/planproof target/dist/planproof-launch /

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 planproof \
    && install --directory --owner planproof /work
COPY --from=build /planproof /planproof-launch /usr/local/bin/
USER planproof
WORKDIR /work
ENTRYPOINT ["planproof"]
