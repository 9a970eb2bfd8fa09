use std::time::Instant;
use weighbridge::Format;
use weighbridge_tests::{fixtures, survey::*};
fn main() {
    let format = Format::by_name("ztensor");
    let mut total = 0;
    for f in fixtures::ztensor::all() {
        let t = Instant::now();
        let mut h = Host::new(&f.bytes, Access::Rounded(1));
        survey(&mut h, format).unwrap();
        let r1 = t.elapsed().as_micros();
        let n1 = h.asked.len();
        let t = Instant::now();
        survey(&mut Host::new(&f.bytes, Access::Rounded(7)), format).unwrap();
        let r7 = t.elapsed().as_micros();
        let t = Instant::now();
        survey_whole(&f.bytes, format);
        let w = t.elapsed().as_nanos();
        if f.bytes.len() <= 4096 {
            total += w * f.bytes.len() as u128 * if f.bytes.len() <= 256 { 255 } else { 8 };
        }
        println!("{:10} {:10} {:8} {:6} {:8} {}", r1, r7, w, n1, f.bytes.len(), f.name);
    }
    println!("mutations {} s", total / 1_000_000_000);
}
