//! `mdh asm`: this machine, and machines from files.

use serde_json::Value;

use crate::support::Session;

const TOY: &str = r#"{
  "name": "toy",
  "layers": [
    {"memory": {"name": "device"}},
    {"core": {"name": "block", "extents": [2147483647, 65535], "combine_in": [{"region": "device"}]}},
    {"memory": {"name": "shared", "capacity": 49152}},
    {"core": {"name": "thread", "count": 1000, "combine_in": [{"region": "shared"}, {"region": "register", "at_most": 32}]}},
    {"memory": {"name": "L1", "capacity": 3000, "kind": "cache"}},
    {"memory": {"name": "register", "capacity": 1073741824}},
    {"core": {"name": "simd", "width": 64, "combine_in": []}}
  ],
  "limits": [{"what": "threads per block", "layers": ["thread", "simd"], "at_most": 1024}]
}
"#;

#[test]
fn from_files() {
    let mut session = Session::new();
    session.file("toy.json", TOY);
    session.mdh("asm --asm toy.json");
    session.shell("$MDH asm --asm toy.json --json > again.json");
    session.shell("$MDH asm --asm again.json --json | diff - again.json");
    for (from, to) in [
        ("\"count\": 1000", "\"count\": 0"),
        ("\"count\": 1000", "\"count\": -1"),
        ("\"capacity\": 3000", "\"capacity\": 0"),
        ("\"name\": \"L1\"", "\"name\": \"shared\""),
        ("\"region\": \"shared\"", "\"region\": \"cloud\""),
        ("\"limits\"", "\"limit\""),
        ("[\"thread\", \"simd\"]", "[\"warp\"]"),
        (TOY, "{\"name\": \"none\", \"layers\": []}"),
        (TOY, "{\"name\": "),
        (TOY, ""),
        (TOY, "null"),
        ("{\"region\": \"shared\"}", "\"shared\""),
    ] {
        let say = if from == TOY {
            to
        } else {
            &format!("{from} -> {to}")
        };
        session.file("wrong.json", TOY.replace(from, to));
        session.say(say).mdh("asm --asm wrong.json");
    }
    let twice = TOY.replace("1000", "0").replace("3000", "0");
    session.file("wrong.json", twice);
    session.say("all that is wrong").mdh("asm --asm wrong.json");
    session.mdh("asm --asm nowhere.json");
    insta::assert_snapshot!(session.text());
}

#[test]
fn this_machine() {
    let session = Session::new();
    let output = session.output(&["asm", "--json"]);
    let asm: Value = serde_json::from_slice(&output.stdout).unwrap();
    let layers = asm["layers"].as_array().unwrap();
    let layer = |kind: &str, name: &str| {
        let mut layers_of_kind = layers.iter().map(|layer| &layer[kind]);
        layers_of_kind.find(|layer| layer["name"] == name).unwrap()
    };
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!(layer("core", "core")["count"], cores);
    let width = layer("core", "simd")["width"].as_u64().unwrap();
    assert!([8, 16, 32, 64].contains(&width), "{width}");
    let size = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index0/size");
    if let Ok(size) = size {
        let kilobytes: u64 = size.trim().trim_end_matches('K').parse().unwrap();
        assert_eq!(layer("memory", "L1")["capacity"], kilobytes << 10);
    }
    // It is what --asm reads, and the text says the same.
    session.file("this.json", &output.stdout);
    let text = session.output(&["asm"]).stdout;
    assert_eq!(session.output(&["asm", "--asm", "this.json"]).stdout, text);
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("cpu\n  main "), "{text}");
    assert!(
        text.contains(&format!("core    {cores} of them, ")),
        "{text}"
    );
}
