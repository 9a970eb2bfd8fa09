//! Files read back into the descriptions that our encoders write.

use weighbridge::{DType, File, Kind, Source, Span, Value};
use weighbridge_tests::encode::oinf;
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
                assert_eq!(fact.meta.kind, Kind::SizeVar);
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
    quantization: &weighbridge::format::oinf::Quantization,
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
