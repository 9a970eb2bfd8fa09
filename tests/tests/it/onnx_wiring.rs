//! ONNX: which node reads which value, and which function calls which.

use weighbridge::{Format, Options, Profile, Report, check_with};
use weighbridge_core::Severity;
use weighbridge_tests::encode::onnx::{Message, Model, Tensor, node, opset, value};
use weighbridge_tests::fixtures;

fn checked(bytes: &[u8]) -> Report {
    check_with(bytes, &Options::new().format(Format::Onnx).seed(1)).unwrap()
}

/// The rules that a report finds broken, each once.
fn broken(report: &Report) -> Vec<&str> {
    let severity = |rule: &str| {
        let all = Format::Onnx.rules().iter();
        all.clone().find(|it| it.id == rule).map(|it| it.severity)
    };
    let found = report.findings().iter().map(|found| found.rule());
    let mut rules: Vec<_> =
        found.filter(|rule| severity(rule) > Some(Severity::Unchecked)).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn onnx_wired_fixture_breaks_its_rule() {
    for fixture in fixtures::onnx::wired() {
        let report = checked(&fixture.bytes);
        let messages: Vec<_> = report.findings().iter().map(|it| it.message()).collect();
        assert_eq!(broken(&report), fixture.breaks, "{}: {messages:?}", fixture.name);
    }
}

/// A fixture of another rule has no fault besides.
#[test]
fn onnx_other_fixture_is_wired_soundly() {
    let mut others = Vec::new();
    for fixture in fixtures::onnx::all() {
        let mut expected = fixture.breaks.to_vec();
        expected.sort_unstable();
        let report = checked(&fixture.bytes);
        if broken(&report) != expected {
            others.push(format!("{}: {:?}", fixture.name, broken(&report)));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn onnx_fault_of_wiring_is_at_the_name() {
    let mut found = 0;
    for fixture in fixtures::onnx::wired().iter().filter(|it| !it.breaks.is_empty()) {
        for fault in checked(&fixture.bytes).findings() {
            let finding = fault.finding();
            let (at, len) = (finding.offset as usize, finding.len as usize);
            let name = fixture.bytes.get(at..at + len).unwrap();
            if fault.rule() != "W-MERGE" {
                assert!(!name.is_empty() && name.is_ascii(), "{}: {name:?}", fixture.name);
                assert_eq!(fixture.bytes[at - 1] as usize, len, "{}", fixture.name);
                found += 1;
            }
        }
    }
    assert!(found > 25, "{found}");
}

#[test]
fn onnx_wiring_is_the_same_through_small_windows() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in fixtures::onnx::wired() {
        let path = folder.path().join("model.onnx");
        std::fs::write(&path, &fixture.bytes).unwrap();
        let options = Options::new().format(Format::Onnx).seed(1).granule(16).kept(64);
        let report = weighbridge::check_path(&path, &options).unwrap();
        let whole = checked(&fixture.bytes);
        let of = |report: &Report| {
            let all = report.findings().iter().map(|it| (it.rule().to_owned(), it.offset()));
            all.collect::<Vec<_>>()
        };
        assert_eq!(of(&report), of(&whole), "{}", fixture.name);
    }
}

#[test]
fn onnx_long_name_of_value_is_unchecked() {
    let long = "n".repeat(70_000);
    let mut model = Model::new(&[Tensor::new("w", &[2, 3])]);
    model.graph.push((1, node("Relu", &["x"], &[&long])));
    model.graph.push((1, node("Relu", &["absent"], &["q"])));
    let report = checked(&model.encode());
    assert_eq!(report.verdict(Profile::Strict).name(), "unchecked");
    assert_eq!(broken(&report), [""; 0]);
}

#[test]
fn onnx_links_beyond_memory_are_unchecked() {
    let mut model = Model::new(&[]);
    model.graph.extend((0..1000).map(|i| (1, node("Relu", &["absent"], &[&format!("v{i}")]))));
    let options = Options::new().format(Format::Onnx).seed(1).memory(10_000);
    let report = check_with(&model.encode(), &options).unwrap();
    assert_eq!(report.verdict(Profile::Strict).name(), "unchecked");
    assert_eq!(broken(&report), [""; 0]);
}

/// One name, made and read in many graphs: each event is looked at once.
#[test]
fn onnx_name_in_many_graphs_takes_linear_time() {
    let inner = Message::new().message(1, node("Relu", &["x"], &["a"])).text(2, "g");
    let inner = inner.message(12, value("a", &[2]));
    let branch = Message::new().text(1, "body").message(6, inner).int(20, 5);
    let mut model = Model::new(&[]);
    let nodes = (0..50_000).map(|i| node("If", &["x"], &[&format!("v{i}")]));
    model.graph.extend(nodes.map(|node| (1, node.message(5, branch.clone()))));
    let start = std::time::Instant::now();
    assert_eq!(broken(&checked(&model.encode())), [""; 0]);
    // A product of 50,000 by 50,000 takes minutes.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn onnx_operator_that_no_function_defines_is_unchecked() {
    let model = |name: &str| {
        let body = node("Relu", &["a"], &["b"]);
        let function = Message::new().text(1, name).text(4, "a").text(5, "b").message(7, body);
        let mut model = Model::new(&[Tensor::new("w", &[2])]);
        let calls = ["q", "r"].map(|output| (1, node("f", &["w"], &[output]).text(7, "d")));
        model.graph.extend(calls);
        model.opsets.push(opset("d", 1));
        model.more.push((25, function.message(9, opset("", 21)).text(10, "d")));
        model.encode()
    };
    let unchecked = |bytes: &[u8]| {
        let report = checked(bytes);
        let custom = "is of a domain outside ai.onnx";
        report.unchecked().iter().filter(|it| it.why().contains(custom)).count()
    };
    assert_eq!(unchecked(&model("f")), 0);
    assert_eq!(unchecked(&model("g")), 1);
}
