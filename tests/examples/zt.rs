use weighbridge::Format;
use weighbridge_tests::{fixtures, survey::survey_whole};
fn main() {
    let format = Format::by_name("ztensor");
    if let Some(dir) = std::env::args().nth(1) {
        let mut files: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        for f in files {
            if f.extension().is_none_or(|e| e != "zt") {
                continue;
            }
            let bytes = std::fs::read(&f).unwrap();
            let s = survey_whole(&bytes, format);
            let all: Vec<_> = s
                .findings
                .iter()
                .map(|f| format!("{}:{}@{}", f.severity().name(), f.rule.id(), f.at))
                .take(6)
                .collect();
            println!(
                "{} {} {:?}",
                f.file_name().unwrap().display(),
                if s.is_valid() { "valid" } else { "INVALID" },
                all
            );
        }
        return;
    }
    for fixture in fixtures::ztensor::all() {
        let s = survey_whole(&fixture.bytes, format);
        let mut e = fixture.breaks.to_vec();
        e.sort();
        if s.broken() != e {
            println!("{}: {:?} want {:?}", fixture.name, s.broken(), e);
        }
    }
}
