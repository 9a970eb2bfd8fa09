//! Random sound files from our encoders read back equal.

use proptest::prelude::*;
use weighbridge_core::{DType, Endianness, Format, Layout, Value};
use weighbridge_tests::encode::{bintensors, gguf, oinf, safetensors, shards, stb, ztensor};
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
            prop_assert_eq!(&bytes[text.offset as usize..][..text.len as usize], value.as_bytes());
        }
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            let dtype = format!("{:?}", tensor.dtype).to_lowercase();
            prop_assert_eq!(&fact.name, tensor.name.as_bytes());
            prop_assert_eq!(&fact.shape, &tensor.shape);
            prop_assert_eq!(fact.tensor.dtype.name(), dtype);
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &tensor.data);
        }
    }

    #[test]
    fn gguf_reads_back(file in gguf::arbitrary()) {
        let bytes = file.encode().bytes;
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.file.map(|f| f.format()), Some(Format::Gguf));
        prop_assert_eq!(crate::readback::gguf_metadata(&bytes, &survey), file.metadata);
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            let shape: Vec<_> = tensor.dims.iter().rev().copied().collect();
            prop_assert_eq!(&fact.name, &tensor.name);
            prop_assert_eq!(&fact.shape, &shape);
            prop_assert_eq!(fact.tensor.endianness == Endianness::Big, file.big);
            prop_assert_eq!(fact.tensor.bytes(), Some(tensor.data.len() as u64));
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &tensor.data);
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
    fn safetensors_reads_back(file in safetensors::arbitrary()) {
        let bytes = file.encode();
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.file.map(|f| f.format()), Some(Format::Safetensors));
        let text = |name: weighbridge_core::NameAt| {
            let source = weighbridge_core::Source::whole(&bytes);
            name.read(&source).unwrap().bytes().collect::<Vec<_>>()
        };
        let metadata = file.metadata.unwrap_or_default();
        prop_assert_eq!(survey.metadata.len(), metadata.len());
        for (fact, (key, value)) in survey.metadata.iter().zip(&metadata) {
            let Some(Value::Text(found)) = fact.value else { panic!("{fact:?}") };
            prop_assert_eq!(&fact.key, key.as_bytes());
            prop_assert_eq!(text(found), value.as_bytes());
        }
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            prop_assert_eq!(&fact.name, tensor.name.as_bytes());
            prop_assert_eq!(&fact.shape, &tensor.shape);
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &tensor.data);
        }
        prop_assert!(::safetensors::SafeTensors::deserialize(&bytes).is_ok());
    }

    #[test]
    fn shards_read_back(index in shards::arbitrary()) {
        let survey = survey_whole(&index.encode(), None);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        let Some(weighbridge_core::File::Shards(header)) = survey.file else {
            return Err(TestCaseError::fail("no index"));
        };
        prop_assert_eq!(header.total_size(), index.total);
        let keys: Vec<_> = survey.metadata.iter().map(|meta| meta.key.clone()).collect();
        let expected: Vec<_> = index.map.iter().map(|(name, _)| name.clone().into_bytes()).collect();
        prop_assert_eq!(keys, expected);
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
            prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &tensor.payload);
        }
    }
}

proptest! {
    #[test]
    fn ztensor_reads_back(file in ztensor::random::arbitrary()) {
        let bytes = file.encode();
        let survey = survey_whole(&bytes, None);
        prop_assert!(survey.broken().is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.tensors.len(), file.tensors.len());
        for (fact, tensor) in survey.tensors.iter().zip(&file.tensors) {
            prop_assert_eq!(&fact.name[..], tensor.name.as_bytes());
            prop_assert_eq!(&fact.shape, &tensor.shape);
            let width = ztensor::width(&tensor.dtype).unwrap_or(0);
            prop_assert_eq!(u64::from(fact.tensor.dtype.bits()), width * 8);
            let layout = match &tensor.layout[..] {
                "dense" => Layout::RowMajor,
                "sparsecoo" => Layout::Coo,
                _ => Layout::Csr,
            };
            prop_assert_eq!(fact.tensor.layout, layout);
            let big = tensor.endianness.as_deref() == Some("big");
            prop_assert_eq!(fact.tensor.endianness == Endianness::Big, big);
            let span = fact.chunks[0].stored;
            prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &tensor.blob);
            let keys: Vec<_> = fact.attributes.iter().map(|a| a.key.clone()).collect();
            let optional = [
                tensor.endianness.is_some().then_some("data_endianness"),
                tensor.checksum_text().is_some().then_some("checksum"),
            ];
            let custom = tensor.custom.iter().map(|(key, _)| &key[..]);
            let wanted: Vec<_> = optional.into_iter().flatten().chain(custom).map(|k| k.as_bytes().to_vec()).collect();
            prop_assert_eq!(keys, wanted);
            for ((_, item), attribute) in tensor.custom.iter().rev().zip(fact.attributes.iter().rev()) {
                let span = attribute.meta.stored;
                prop_assert_eq!(&bytes[span.offset as usize..][..span.len as usize], &item.encode());
            }
        }
    }
}

proptest! {
    /// A map as real writers emit it is read on the fast path, one with a custom field is not; both
    /// give the same tensor.
    #[test]
    fn ztensor_reads_the_same_either_way(file in ztensor::random::arbitrary()) {
        let mut with_custom = file.clone();
        for tensor in &mut with_custom.tensors {
            tensor.custom.push(("~".to_owned(), ztensor::Item::NULL));
        }
        let (plain, custom) =
            (survey_whole(&file.encode(), None), survey_whole(&with_custom.encode(), None));
        prop_assert_eq!(plain.broken(), custom.broken());
        for (a, b) in plain.tensors.iter().zip(&custom.tensors) {
            prop_assert_eq!((&a.name, &a.shape, &a.chunks), (&b.name, &b.shape, &b.chunks));
            let (a, b) = (a.tensor, b.tensor);
            prop_assert_eq!((a.dtype, a.status, a.layout), (b.dtype, b.status, b.layout));
            prop_assert_eq!((a.encoding, a.endianness), (b.encoding, b.endianness));
            prop_assert_eq!((a.elements, a.chunks, a.index), (b.elements, b.chunks, b.index));
            prop_assert_eq!((a.name.len, a.dims.len, a.dims.rank), (b.name.len, b.dims.len, b.dims.rank));
        }
    }
}
