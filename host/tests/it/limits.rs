//! Anything left out because of a limit is reported.

use weighbridge::{Error, Model, Options, Profile, Verdict, check_with};
use weighbridge_tests::encode::ztensor::{self, Tensor};
use weighbridge_tests::samples;

#[test]
fn names_are_unchecked_without_memory() {
    let bytes = samples::unsorted();
    let all = check_with(&bytes, &Options::new()).expect("reads");
    assert_eq!(all.verdict(Profile::Lenient), Verdict::Valid, "{all:?}");
    let none = check_with(&bytes, &Options::new().memory(0)).expect("reads");
    assert_eq!(none.verdict(Profile::Lenient), Verdict::Unchecked, "{none:?}");
    assert!(none.unchecked()[0].why().contains("names are unique"), "{none:?}");
    let model = Model::from_bytes_with(&bytes, &Options::new().memory(0)).expect("opens");
    assert!(matches!(model.tensor("a"), Err(Error::Memory(_))));
}

#[test]
fn decoding_stops_at_work_limit() {
    let zeros = vec![0; 1 << 20];
    let bytes = ztensor::File::of(vec![Tensor::zstd("z", "uint8", &[1 << 20], &zeros)]).encode();
    let few = Options::new().work(1000);
    let report = check_with(&bytes, &few).expect("reads");
    assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    let model = Model::from_bytes_with(&bytes, &few).expect("opens");
    let refused = model.tensor("z").expect("is there").to_vec::<u8>();
    assert!(matches!(refused, Err(Error::Memory(_))), "{refused:?}");
    let model = Model::from_bytes(&bytes).expect("opens");
    assert_eq!(model.tensor("z").expect("is there").to_vec::<u8>().expect("decodes"), zeros);
}
