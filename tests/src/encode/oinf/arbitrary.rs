//! Random sound models.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::{Metadata, Model, Quant, Scales, Sizevar, Tensor, Type, Value, ZeroPoints};

const NAME: &str = "[A-Za-z0-9._-]{1,24}";

/// Any sound model of either version, small enough for many cases.
pub fn arbitrary() -> impl Strategy<Value = Model> {
    let sizevars = btree_map(NAME, any::<u64>(), 0..6);
    let metadata = btree_map(NAME, value(), 0..8);
    let tensors = btree_map(NAME, tensor(), 0..8);
    (1..=2u32, sizevars, metadata, tensors).prop_map(model)
}

type Named<T> = BTreeMap<String, T>;

fn model(
    (version, sizevars, metadata, tensors): (u32, Named<u64>, Named<Value>, Named<Tensor>),
) -> Model {
    let tensors = tensors.into_iter().map(|(name, tensor)| {
        let quant = tensor.quant.filter(|_| version != 1);
        Tensor { name, quant, ..tensor }
    });
    Model {
        version,
        sizevars: sizevars.into_iter().map(|(name, value)| Sizevar { name, value }).collect(),
        metadata: metadata.into_iter().map(|(key, value)| Metadata { key, value }).collect(),
        tensors: tensors.collect(),
    }
}

fn ty() -> impl Strategy<Value = Type> {
    proptest::sample::select(&Type::ALL[..])
}

fn data(ty: Type, count: u64) -> impl Strategy<Value = Vec<u8>> {
    let len = ty.bytes(count) as usize;
    vec(any::<u8>(), len).prop_map(move |bytes| ty.tidy(count, bytes))
}

fn dims() -> impl Strategy<Value = Vec<u64>> {
    vec(prop_oneof![1 => Just(0u64), 12 => 1..5u64], 0..4)
}

fn value() -> impl Strategy<Value = Value> {
    let scalar =
        ty().prop_flat_map(|ty| data(ty, 1).prop_map(move |bytes| Value::Scalar(ty, bytes)));
    let bits = (0..40u32).prop_flat_map(|count| {
        let bytes = data(Type::U1, u64::from(count));
        bytes.prop_map(move |bytes| Value::Bits(count, bytes))
    });
    let array = (ty(), dims()).prop_flat_map(|(ty, dims)| {
        let bytes = data(ty, dims.iter().product());
        bytes.prop_map(move |bytes| Value::Array(ty, dims.clone(), bytes))
    });
    prop_oneof![scalar, NAME.prop_map(Value::Text), bits, array]
}

fn tensor() -> impl Strategy<Value = Tensor> {
    (ty(), dims()).prop_flat_map(|(ty, dims)| {
        let data = data(ty, dims.iter().product());
        let with_data = (proptest::option::weighted(0.8, data), quant(&dims));
        with_data.prop_map(move |(data, quant)| {
            // Quantisation of a tensor without data is legal, but the writer never emits it.
            let quant = quant.filter(|_| data.is_some());
            Tensor { name: String::new(), ty, dims: dims.clone(), data, quant }
        })
    })
}

fn scale() -> impl Strategy<Value = f32> {
    1e-30f32..1e30
}

fn quant(dims: &[u64]) -> impl Strategy<Value = Option<Quant>> + use<> {
    let points = prop_oneof![Just(ZeroPoints::None), any::<i32>().prop_map(ZeroPoints::PerTensor)];
    let per_tensor = (scale(), points).prop_map(|(scale, zero_points)| Quant {
        asymmetric: zero_points != ZeroPoints::None,
        scales: Scales::PerTensor(scale),
        zero_points,
    });
    let per_tensor = per_tensor.prop_map(Some);
    if dims.is_empty() {
        return prop_oneof![Just(None), per_tensor].boxed();
    }
    let dims = dims.to_vec();
    let per_channel = (0..dims.len(), any::<bool>()).prop_flat_map(move |(axis, with_points)| {
        let count = dims[axis] as usize;
        (vec(scale(), count), vec(any::<i32>(), count)).prop_map(move |(scales, points)| {
            Some(Quant {
                asymmetric: with_points,
                scales: Scales::PerChannel(axis as u64, scales),
                zero_points: match with_points {
                    true => ZeroPoints::PerChannel(points),
                    false => ZeroPoints::None,
                },
            })
        })
    });
    prop_oneof![2 => Just(None), 1 => per_tensor, 1 => per_channel].boxed()
}
