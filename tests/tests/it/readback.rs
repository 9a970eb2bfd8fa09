//! Reads files back into the descriptions that our encoders write.

use weighbridge_core::format::gguf::{Item, Items};
use weighbridge_core::{DType, Endianness, EntryKind, File, Source, Span, Value};
use weighbridge_tests::encode::{gguf, oinf};
use weighbridge_tests::survey::Survey;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The description of a sound OINF file.
pub(crate) fn oinf(file: &[u8], survey: &Survey) -> oinf::Model {
    let Some(header @ File::Oinf(oinf)) = survey.file else { panic!("{:?}", survey.file) };
    let source = Source::whole(file);
    let bytes = |span: Span| source.get(span).unwrap().to_vec();
    let mut model = oinf::Model {
        version: u32::from(header.version().unwrap().parts()[0]),
        sizevars: Vec::new(),
        metadata: Vec::new(),
        tensors: Vec::new(),
    };
    for fact in &survey.metadata {
        let value = match fact.value.unwrap() {
            Value::Size(value) => {
                assert_eq!(fact.meta.kind, EntryKind::SizeVar);
                model.sizevars.push(oinf::sizevar(&text(&fact.key), value));
                continue;
            }
            Value::Text(at) => oinf::Value::Text(text(&bytes(at.span()))),
            Value::Scalar { dtype, stored } => oinf::Value::Scalar(ty(dtype), bytes(stored)),
            Value::Bits { count, stored } => oinf::Value::Bits(count as u32, bytes(stored)),
            Value::Array { dtype, dims, stored, .. } => {
                let dims = dims.read(&source).unwrap().collect();
                oinf::Value::Array(ty(dtype), dims, bytes(stored))
            }
            other => panic!("{other:?}"),
        };
        model.metadata.push(oinf::metadata(&text(&fact.key), value));
    }
    for fact in &survey.tensors {
        let quantization = oinf.quantization(&source, &fact.tensor).unwrap();
        model.tensors.push(oinf::Tensor {
            name: text(&fact.name),
            ty: ty(fact.tensor.dtype),
            dims: fact.shape.clone(),
            data: fact.chunks.first().map(|chunk| bytes(chunk.stored)),
            quant: quantization.map(|quantization| quant(&quantization, &bytes)),
        });
    }
    model
}

fn quant(
    quantization: &weighbridge_core::format::oinf::Quantization,
    bytes: &impl Fn(Span) -> Vec<u8>,
) -> oinf::Quant {
    let words = |span| bytes(span).as_chunks::<4>().0.to_vec();
    let scales: Vec<_> = words(quantization.scales).into_iter().map(f32::from_le_bytes).collect();
    let points: Vec<_> =
        words(quantization.zero_points).into_iter().map(i32::from_le_bytes).collect();
    oinf::Quant {
        asymmetric: !quantization.symmetric,
        zero_points: match (quantization.has_zero_points, quantization.axis) {
            (false, _) => oinf::ZeroPoints::None,
            (true, None) => oinf::ZeroPoints::PerTensor(points[0]),
            (true, Some(_)) => oinf::ZeroPoints::PerChannel(points),
        },
        scales: match quantization.axis {
            None => oinf::Scales::PerTensor(scales[0]),
            Some(axis) => oinf::Scales::PerChannel(axis, scales),
        },
    }
}

fn ty(dtype: DType) -> oinf::Type {
    let name = if dtype == DType::F8E5M2 { "f8" } else { dtype.name() };
    oinf::Type::ALL.into_iter().find(|ty| ty.name() == name).unwrap()
}

/// The metadata of a sound GGUF file.
pub(crate) fn gguf_metadata(file: &[u8], survey: &Survey) -> Vec<(Vec<u8>, gguf::Value)> {
    let source = Source::whole(file);
    let endianness = survey.file.unwrap().endianness();
    let bits = |dtype: DType, span: Span| {
        let mut bytes = source.get(span).unwrap().to_vec();
        if endianness == Endianness::Big {
            bytes.reverse();
        }
        bytes.resize(8, 0);
        gguf::Value::Number(tag(dtype), u64::from_le_bytes(bytes.try_into().unwrap()))
    };
    let of = |value: Value| match value {
        Value::Text(at) => gguf::Value::Text(source.get(at.span()).unwrap().to_vec()),
        Value::Scalar { dtype, stored } => bits(dtype, stored),
        Value::Array { dtype, elements, stored, .. } => {
            let width = stored.len.checked_div(elements).unwrap_or(0);
            let item = |i| bits(dtype, Span::new(stored.offset + i * width, width));
            gguf::Value::Array(tag(dtype), (0..elements).map(item).collect())
        }
        Value::List { count, stored } => {
            let items = Items::new(source.get(stored).unwrap(), endianness);
            let texts: Vec<_> = items
                .map(|item| match item {
                    Item::Text(name) => gguf::Value::Text(name.bytes().collect()),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(texts.len() as u64, count);
            gguf::Value::Array(8, texts)
        }
        other => panic!("{other:?}"),
    };
    survey.metadata.iter().map(|fact| (fact.key.clone(), of(fact.value.unwrap()))).collect()
}

fn tag(dtype: DType) -> u32 {
    let types = [
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::F32,
        DType::Bool,
        DType::Text,
        DType::Unknown,
        DType::U64,
        DType::I64,
        DType::F64,
    ];
    types.iter().position(|known| *known == dtype).unwrap() as u32
}
