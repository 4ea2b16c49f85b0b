//! A request of OTLP in protocol buffers, for collectors that take no JSON.
//!
//! Only what [`super`] writes is known here, by the numbers of the fields in OTLP's definitions (`trace.proto`,
//! `common.proto`): a request is made of a few small messages, so no generated code is needed.

use serde_json::Value;

/// How a field is written on the wire.
#[derive(Clone, Copy)]
enum Wire {
    Number = 0,
    Fixed64 = 1,
    Bytes = 2,
}

/// A message that is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            // The lowest seven bits, and that more follow.
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn tag(&mut self, field: u64, wire: Wire) {
        self.varint(field << 3 | wire as u64);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.tag(field, Wire::Bytes);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    /// A text, where it is there.
    fn text(&mut self, field: u64, text: Option<&Value>) {
        if let Some(text) = text.and_then(Value::as_str) {
            self.bytes(field, text.as_bytes());
        }
    }

    fn number(&mut self, field: u64, number: u64) {
        self.tag(field, Wire::Number);
        self.varint(number);
    }

    /// A time, which is a text in JSON.
    fn time(&mut self, field: u64, time: Option<&Value>) {
        let time = time.and_then(|time| time.as_str()?.parse::<u64>().ok()).unwrap_or(0);
        self.tag(field, Wire::Fixed64);
        self.0.extend_from_slice(&time.to_le_bytes());
    }

    /// An id, whose digits are hexadecimal in JSON.
    fn id(&mut self, field: u64, id: Option<&Value>) {
        let Some(digits) = id.and_then(Value::as_str) else { return };
        let pairs =
            (0..digits.len() / 2).map(|place| u8::from_str_radix(&digits[2 * place..2 * place + 2], 16));
        self.bytes(field, &pairs.map(Result::unwrap_or_default).collect::<Vec<u8>>());
    }

    fn attributes(&mut self, field: u64, attributes: Option<&Value>) {
        for attribute in items(attributes) {
            let mut entry = Self::default();
            entry.text(1, attribute.get("key"));
            entry.message(2, &value(&attribute["value"]));
            self.message(field, &entry);
        }
    }
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn value(union: &Value) -> Message {
    let mut message = Message::default();
    message.text(1, union.get("stringValue"));
    if let Some(flag) = union.get("boolValue").and_then(Value::as_bool) {
        message.number(2, u64::from(flag));
    }
    if let Some(number) = union.get("intValue").and_then(|number| number.as_str()?.parse::<u64>().ok()) {
        message.number(3, number);
    }
    if let Some(number) = union.get("doubleValue").and_then(Value::as_f64) {
        message.tag(4, Wire::Fixed64);
        message.0.extend_from_slice(&number.to_le_bytes());
    }
    message
}

/// The bytes of a request.
pub(super) fn encode(request: &Value) -> Vec<u8> {
    let mut all = Message::default();
    for resource in items(request.get("resourceSpans")) {
        let mut of_resource = Message::default();
        let mut attributes = Message::default();
        attributes.attributes(1, resource["resource"].get("attributes"));
        of_resource.message(1, &attributes);
        for scope in items(resource.get("scopeSpans")) {
            let mut of_scope = Message::default();
            let mut named = Message::default();
            named.text(1, scope["scope"].get("name"));
            named.text(2, scope["scope"].get("version"));
            of_scope.message(1, &named);
            items(scope.get("spans")).for_each(|it| of_scope.message(2, &span(it)));
            of_resource.message(2, &of_scope);
        }
        all.message(1, &of_resource);
    }
    all.0
}

fn span(span: &Value) -> Message {
    let mut message = Message::default();
    message.id(1, span.get("traceId"));
    message.id(2, span.get("spanId"));
    message.id(4, span.get("parentSpanId"));
    message.text(5, span.get("name"));
    message.number(6, span.get("kind").and_then(Value::as_u64).unwrap_or(0));
    message.time(7, span.get("startTimeUnixNano"));
    message.time(8, span.get("endTimeUnixNano"));
    message.attributes(9, span.get("attributes"));
    for event in items(span.get("events")) {
        let mut of_event = Message::default();
        of_event.time(1, event.get("timeUnixNano"));
        of_event.text(2, event.get("name"));
        of_event.attributes(3, event.get("attributes"));
        message.message(11, &of_event);
    }
    let mut status = Message::default();
    status.text(2, span["status"].get("message"));
    if let Some(code) = span["status"].get("code").and_then(Value::as_u64) {
        status.number(3, code);
    }
    message.message(15, &status);
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_small_request_is_these_bytes() {
        let request = json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{
            "scope": {"name": "p"},
            "spans": [{"traceId": "0102", "spanId": "ff", "name": "x", "kind": 1, "startTimeUnixNano": "1",
                       "endTimeUnixNano": "258", "status": {"code": 2},
                       "attributes": [{"key": "k", "value": {"intValue": "300"}}]}],
        }]}]});
        let span = [
            &[0x0a, 2, 1, 2, 0x12, 1, 0xff, 0x2a, 1, b'x', 0x30, 1][..],
            &[0x39, 1, 0, 0, 0, 0, 0, 0, 0, 0x41, 2, 1, 0, 0, 0, 0, 0, 0],
            &[0x4a, 8, 0x0a, 1, b'k', 0x12, 3, 0x18, 0xac, 0x02],
            &[0x7a, 2, 0x18, 2],
        ]
        .concat();
        let length = u8::try_from(span.len()).unwrap_or_default();
        let scope = [&[0x0a, 3, 0x0a, 1, b'p', 0x12, length][..], &span].concat();
        let resource = [&[0x0a, 0, 0x12, length + 7][..], &scope].concat();
        let expected = [&[0x0a, length + 11][..], &resource].concat();
        assert_eq!(encode(&request), expected);
    }
}
