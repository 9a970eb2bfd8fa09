//! A random sound file from an encoder reads back equal.

use proptest::prelude::*;
use weighbridge::{DType, Format, Layout, Value};
use weighbridge_tests::encode::{bintensors, oinf, stb};
use weighbridge_tests::survey::survey_whole;

proptest! {
    #[test]
    fn bintensors_reads_back(file in bintensors::arbitrary()) {
        let bytes = file.encode();
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.file.map(|f| f.format()), Some(Format::BinTensors));
        let metadata = file.metadata.unwrap_or_default();
        prop_assert_eq!(survey.metadata.len(), metadata.len());
        for (fact, (key, value)) in survey.metadata.iter().zip(&metadata) {
            let Some(Value::Text(text)) = fact.value else { panic!("{fact:?}") };
            prop_assert_eq!(&fact.key, key.as_bytes());
            prop_assert_eq!(&bytes[text.at as usize..][..text.len as usize], value.as_bytes());
        }
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            let dtype = format!("{:?}", tensor.dtype).to_lowercase();
            prop_assert_eq!(&fact.name, tensor.name.as_bytes());
            prop_assert_eq!(&fact.shape, &tensor.shape);
            prop_assert_eq!(fact.tensor.dtype.name(), dtype);
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.at as usize..][..span.len as usize], &tensor.data);
        }
    }

    #[test]
    fn oinf_reads_back(model in oinf::arbitrary()) {
        let bytes = model.encode().bytes;
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(crate::readback::oinf(&bytes, &survey), model);
    }

    #[test]
    fn stb_reads_back(file in stb::arbitrary()) {
        let bytes = file.encode();
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            let shape: Vec<_> = tensor.dims[..usize::from(tensor.rank)].iter().map(|d| u64::from(*d)).collect();
            let dtypes = [DType::F32, DType::F16, DType::I8, DType::I32];
            let layouts = [Layout::RowMajor, Layout::ColumnMajor, Layout::ChannelsLast];
            prop_assert_eq!(fact.name.clone(), tensor.id.to_string().into_bytes());
            prop_assert_eq!(&fact.shape, &shape);
            prop_assert_eq!(fact.tensor.dtype, dtypes[usize::from(tensor.dtype)]);
            prop_assert_eq!(fact.tensor.layout, layouts[usize::from(tensor.layout)]);
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.at as usize..][..span.len as usize], &tensor.payload);
        }
    }
}
