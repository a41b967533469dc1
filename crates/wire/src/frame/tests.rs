//! What is and what is not JSON-RPC.

use super::*;

// req: WIRE-1
#[test]
fn what_is_not_a_request_is_refused_with_the_code_of_json_rpc() {
    for (bytes, code, id) in [
        (&b"{"[..], Code::ParseError, None),
        (b"", Code::ParseError, None),
        (b"\xff\xfe", Code::ParseError, None),
        (br#"{"jsonrpc":"2.0","method":"ping","params":{},"id":1} x"#, Code::ParseError, None),
        (
            br#"{"jsonrpc":"2.0","method":"ping","params":{"a":1"x"},"id":1}"#,
            Code::ParseError,
            None,
        ),
        (
            br#"{"jsonrpc":"2.0","method":"ping","params":{"a":{"b":1},},"id":1}"#,
            Code::ParseError,
            None,
        ),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping""#, Code::ParseError, None),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","\ud800":1}"#, Code::InvalidRequest, None),
        (b"7", Code::InvalidRequest, None),
        (b"\"text\"", Code::InvalidRequest, None),
        (br#"{"method":"ping","params":{},"id":1}"#, Code::InvalidRequest, Some("1")),
        (br#"{"jsonrpc":"1.0","method":"ping","id":"a"}"#, Code::InvalidRequest, Some("\"a\"")),
        (br#"{"jsonrpc":2.0,"method":"ping","id":3}"#, Code::InvalidRequest, Some("3")),
        (br#"{"jsonrpc":"2.0","params":{},"id":4}"#, Code::InvalidRequest, Some("4")),
        (br#"{"jsonrpc":"2.0","method":5,"id":4}"#, Code::InvalidRequest, Some("4")),
        (br#"{"jsonrpc":"2.0","method":"","id":4}"#, Code::InvalidRequest, Some("4")),
        (br#"{"jsonrpc":"2.0","method":"ping","id":{}}"#, Code::InvalidRequest, None),
        (br#"{"jsonrpc":"2.0","method":"ping","id":true}"#, Code::InvalidRequest, None),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Code::InvalidRequest, None),
    ] {
        let text = String::from_utf8_lossy(bytes);
        let Incoming::Single(Err(error)) = parse(bytes) else { panic!("{text} was accepted") };
        assert_eq!(error.code, code, "{text}");
        assert_eq!(error.id.as_ref().map(Id::as_json), id, "{text}");
        let answer = error.answer();
        let response = parse_response(&answer).unwrap();
        let Outcome::Error(rpc) = response.outcome else { panic!("an error") };
        assert_eq!((rpc.code, response.id), (code.row().rpc, error.id));
    }
}

#[test]
fn the_method_is_known_before_the_parameters_are_read() {
    let bytes =
        br#" {"id": 1e3 ,"params":{"deep":[[["\ud800"]]]},"method":"a\u0062","jsonrpc":"2.0"}"#;
    let Incoming::Single(Ok(request)) = parse(bytes) else { panic!("a request") };
    assert_eq!(request.method, "ab");
    assert_eq!(request.params.unwrap().get(), r#"{"deep":[[["\ud800"]]]}"#);
    assert_eq!(request.id.unwrap().as_json(), "1e3");
}

#[test]
fn identifiers_come_back_exactly_as_they_were() {
    for id in ["1", "-3", "1.50", "18446744073709551616", r#""a\u0041""#, r#""""#] {
        let bytes = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{}},"id":{id}}}"#);
        let Incoming::Single(Ok(request)) = parse(bytes.as_bytes()) else { panic!("{id}") };
        let answer = write_result(&request.id.unwrap(), |out| out.extend_from_slice(b"{}"));
        assert_eq!(
            String::from_utf8(answer).unwrap(),
            format!(r#"{{"jsonrpc":"2.0","result":{{}},"id":{id}}}"#)
        );
    }
    let long = format!(r#"{{"jsonrpc":"2.0","method":"ping","id":"{}"}}"#, "x".repeat(300));
    assert!(matches!(parse(long.as_bytes()), Incoming::Single(Err(_))));
}

#[test]
fn a_notification_has_no_id() {
    let bytes = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let Incoming::Single(Ok(request)) = parse(bytes) else { panic!("a request") };
    assert_eq!((request.id, request.params.is_none()), (None, true));
}

#[test]
fn a_batch_is_read_element_by_element() {
    let good = r#"{"jsonrpc":"2.0","method":"ping","params":{},"id":1}"#;
    let list = r#"["2.0",1,"ping",{}]"#;
    let mixed = format!("[{good}, 7, {good}, {list}]");
    let Incoming::Batch(elements) = parse(mixed.as_bytes()) else { panic!("a batch") };
    let read = elements.iter().map(Result::is_ok).collect::<Vec<_>>();
    assert_eq!(read, [true, false, true, false]);

    let of = |count: usize| format!("[{}]", vec![good; count].join(","));
    assert!(matches!(parse(of(BATCH_MAX).as_bytes()), Incoming::Batch(all) if all.len() == 100));
    for refused in [of(BATCH_MAX + 1), of(0)] {
        let Incoming::Single(Err(error)) = parse(refused.as_bytes()) else { panic!("refused") };
        assert_eq!(error.code, Code::InvalidRequest);
    }
    let Incoming::Single(Err(error)) = parse(b"[{]") else { panic!("refused") };
    assert_eq!(error.code, Code::ParseError);
}

#[test]
fn an_element_of_a_batch_is_read_as_if_it_came_alone() {
    let elements = [
        r#"{"jsonrpc":"2.0","method":"ping","params":{"a":[1,{"b":2}]},"id":1}"#,
        r#"{ "id" : "x" , "params" : [] , "method" : "ping" , "jsonrpc" : "2.0" }"#,
        r#"{"jsonrpc":"1.0","method":"ping","id":2}"#,
        r#"{"jsonrpc":"2.0","method":"","id":3}"#,
        r#"{"jsonrpc":"2.0","method":"ping","method":"pong","id":4}"#,
        r#"{"jsonrpc":"2.0","id":5}"#,
        "{}",
        "[]",
    ];
    let shown = |read: Result<Request<'_>, FrameError>| match read {
        Ok(request) => format!("{:?} {} {:?}", request.id, request.method, request.raw),
        Err(error) => format!("{error:?}"),
    };
    for (first, second) in elements.iter().flat_map(|one| elements.map(|two| (*one, two))) {
        let both = format!(" [ {first} ,{second} ] ");
        let Incoming::Batch(read) = parse(both.as_bytes()) else { panic!("{both}") };
        let alone = [first, second].map(|text| match parse(text.as_bytes()) {
            Incoming::Single(read) => shown(read),
            Incoming::Batch(_) => unreachable!("{text} is one"),
        });
        let read: Vec<_> = read.into_iter().map(shown).collect();
        if ![first, second].contains(&"[]") {
            assert_eq!(read, alone, "{both}");
        }
        assert_eq!(read.len(), 2, "{both}");
    }
    for broken in ["[{}", "[{},]", "[{} {}]", "[{}]x", "[{\"a\":}]"] {
        assert!(matches!(parse(broken.as_bytes()), Incoming::Single(Err(_))), "{broken}");
    }
}

#[test]
fn a_response_has_a_result_or_an_error() {
    for (bytes, expected) in [
        (r#"{"jsonrpc":"2.0","result":{},"id":1}"#, "result"),
        (r#"{"jsonrpc":"2.0","result":null,"id":1}"#, "result"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":1}"#, "error"),
        (r#"{"jsonrpc":"2.0","error":{"code":"x","message":"no"},"id":1}"#, "refused"),
        (r#"{"jsonrpc":"2.0","error":"no","id":1}"#, "refused"),
        (r#"{"jsonrpc":"2.0","result":{},"error":null,"id":1}"#, "refused"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "refused"),
        (r#"{"result":{},"id":1}"#, "refused"),
        ("[]", "refused"),
    ] {
        let seen = match parse_response(bytes.as_bytes()).map(|response| response.outcome) {
            Ok(Outcome::Result(_)) => "result",
            Ok(Outcome::Error(_)) => "error",
            Err(_) => "refused",
        };
        assert_eq!(seen, expected, "{bytes}");
    }
}

#[test]
fn a_batch_of_requests_is_answered_by_a_batch_of_responses() {
    let frames = [1, 2].map(|id| write_result(&Id::from(id), |out| out.extend_from_slice(b"{}")));
    let bytes = write_batch(&frames);
    let responses = parse_responses(&bytes).unwrap();
    let ids = responses.into_iter().map(|response| response.unwrap().id);
    assert_eq!(ids.collect::<Vec<_>>(), [Some(Id::from(1)), Some(Id::from(2))]);
    assert_eq!(parse_responses(&frames[0]).unwrap().len(), 1);
    assert!(parse_responses(b"[]").is_err());
}
