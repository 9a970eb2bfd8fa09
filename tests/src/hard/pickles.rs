//! Checkpoints whose pickle is one operation over and over, and other pickles that take long.

use crate::encode::npz;
use crate::encode::pickle::Pickle;
use crate::encode::pytorch::Checkpoint;

/// `ccollections\nOrderedDict\n`, which the list of torch allows.
const CLASS: &[u8] = b"ccollections\nOrderedDict\n";

/// An operation, the bytes that it needs once before it, and the bytes that are repeated.
type Repeated = (&'static str, &'static [u8], &'static [u8]);

const VALUES: [Repeated; 29] = [
    ("NONE", b"N", b"N0"),
    ("NEWTRUE", b"N", b"\x880"),
    ("NEWFALSE", b"N", b"\x890"),
    ("INT", b"N", b"I7\n0"),
    ("BININT", b"N", b"J\x01\0\0\x000"),
    ("BININT1", b"N", b"K\x010"),
    ("BININT2", b"N", b"M\x01\x000"),
    ("LONG", b"N", b"L7L\n0"),
    ("LONG1", b"N", b"\x8A\x01\x070"),
    ("LONG4", b"N", b"\x8B\x01\0\0\0\x070"),
    ("FLOAT", b"N", b"F1.5\n0"),
    ("BINFLOAT", b"N", b"G\0\0\0\0\0\0\0\x000"),
    ("STRING", b"N", b"S'a'\n0"),
    ("BINSTRING", b"N", b"T\x01\0\0\0a0"),
    ("SHORT_BINSTRING", b"N", b"U\x01a0"),
    ("UNICODE", b"N", b"Va\n0"),
    ("BINUNICODE", b"N", b"X\x01\0\0\0a0"),
    ("SHORT_BINUNICODE", b"N", b"\x8C\x01a0"),
    ("BINUNICODE8", b"N", b"\x8D\x01\0\0\0\0\0\0\0a0"),
    ("BINBYTES", b"N", b"B\x01\0\0\0a0"),
    ("SHORT_BINBYTES", b"N", b"C\x01a0"),
    ("BINBYTES8", b"N", b"\x8E\x01\0\0\0\0\0\0\0a0"),
    ("BYTEARRAY8", b"N", b"\x96\x01\0\0\0\0\0\0\0a0"),
    ("PERSID", b"N", b"Pa\n0"),
    ("BINPERSID", b"N", b"NQ0"),
    ("PROTO", b"N", b"\x80\x04"),
    ("FRAME", b"N", b"\x95\0\0\0\0\0\0\0\0"),
    ("NEXT_BUFFER", b"N", b"\x970"),
    ("READONLY_BUFFER", b"N", b"\x98"),
];

const CONTAINERS: [Repeated; 20] = [
    ("EMPTY_LIST", b"N", b"]0"),
    ("EMPTY_DICT", b"N", b"}0"),
    ("EMPTY_TUPLE", b"N", b")0"),
    ("EMPTY_SET", b"N", b"\x8F0"),
    ("LIST", b"N", b"(Nl0"),
    ("DICT", b"N", b"(NNd0"),
    ("TUPLE", b"N", b"(NNNNt0"),
    ("TUPLE1", b"N", b"N\x850"),
    ("TUPLE2", b"N", b"NN\x860"),
    ("TUPLE3", b"N", b"NNN\x870"),
    ("FROZENSET", b"N", b"(N\x910"),
    ("APPEND", b"]", b"Na"),
    ("APPENDS", b"]", b"(NNe"),
    ("SETITEM", b"}", b"NNs"),
    ("SETITEMS", b"}", b"(NNNNu"),
    ("ADDITEMS", b"\x8F", b"(N\x90"),
    ("lists in lists", b"]", b"]a"),
    ("tuples around tuples", b"N", b"\x85"),
    ("marks", b"N", b"("),
    ("values that stay on the stack", b"", b"N"),
];

const OTHERS: [Repeated; 18] = [
    ("POP_MARK", b"N", b"(1"),
    ("DUP", b"N", b"20"),
    ("PUT", b"N", b"p0\n"),
    ("BINPUT", b"N", b"q\0"),
    ("LONG_BINPUT", b"N", b"r\0\0\0\0"),
    ("MEMOIZE", b"N", b"\x94"),
    ("GET", b"Np0\n", b"g0\n0"),
    ("BINGET", b"Nq\0", b"h\x000"),
    ("LONG_BINGET", b"Nq\0", b"j\0\0\0\x000"),
    ("GLOBAL", b"N", b"ccollections\nOrderedDict\n0"),
    ("STACK_GLOBAL", b"N", b"\x8C\x0Bcollections\x8C\x0BOrderedDict\x930"),
    ("INST", b"N", b"(icollections\nOrderedDict\n0"),
    ("OBJ", b"N", b"(ccollections\nOrderedDict\no0"),
    ("EXT1", b"N", b"\x82\x010"),
    ("EXT2", b"N", b"\x83\x01\x000"),
    ("EXT4", b"N", b"\x84\x01\0\0\x000"),
    // A list that holds itself, and the same list from many places.
    ("the memo in itself", b"]q\0", b"h\0a"),
    ("the memo in lists", b"]q\x01]q\0", b"h\x01a"),
];

/// Operations on what [`CLASS`] makes. It is in the memo, under 0.
const CALLS: [Repeated; 4] = [
    ("REDUCE", b"", b"h\0)R0"),
    ("NEWOBJ", b"", b"h\0)\x810"),
    ("NEWOBJ_EX", b"", b"h\0)}\x920"),
    ("BUILD", b")R", b"}b"),
];

/// Checkpoints in which one operation occurs `count` times, for each operation of `pickletools` (`STOP`
/// ends a pickle, and `POP` is in most of them).
pub fn operations(count: usize) -> Vec<(&'static str, Vec<u8>)> {
    let plain = [&VALUES[..], &CONTAINERS, &OTHERS].concat().into_iter();
    let plain = plain.map(|(name, before, unit)| (name, before.to_vec(), unit));
    let calls = CALLS.into_iter();
    let calls = calls.map(|(name, before, unit)| (name, [CLASS, b"q\0", before].concat(), unit));
    let file = |(name, before, unit): (_, Vec<u8>, &[u8])| {
        let object = Pickle::new(4).raw(&before).raw(&unit.repeat(count)).stop();
        (name, Checkpoint::new(object, &[]).encode())
    };
    plain.chain(calls).map(file).collect()
}

/// Checkpoints that are small and describe much: repetition by the memo, `depth` levels, long names
/// of imports, and a pickle that is compressed.
pub fn pickles(depth: usize) -> Vec<(&'static str, Vec<u8>)> {
    // Each level holds the one below twice.
    let doubled = (0..200_u8).fold(Pickle::new(4).op(b']').put(0).pop(), |pickle, level| {
        pickle.op(b']').put(level + 1).mark().get(level).get(level).op(b'e').pop()
    });
    let levels = Pickle::new(4).raw(&b"]".repeat(depth)).raw(&b"a".repeat(depth - 1));
    let long = "g".repeat(100_000);
    let imports = (0..10).fold(Pickle::new(4), |pickle, _| pickle.global(&long, &long).pop());
    let zeros = Pickle::new(4).raw(&b"N0".repeat(8 << 20)).none().stop();
    let plain = [
        ("a memo that doubles", doubled.get(200).stop()),
        ("levels", levels.stop()),
        ("imports of 100 kB", imports.none().stop()),
    ];
    let mut files: Vec<_> = plain
        .into_iter()
        .map(|(name, object)| (name, Checkpoint::new(object, &[]).encode()))
        .collect();
    let members = [("data.pkl", zeros), ("version", b"3\n".to_vec())];
    let members = members.map(|(name, content)| npz::Member::of(&format!("a/{name}"), content));
    let members = members.map(npz::Member::deflated).into();
    files.push(("a compressed pickle", npz::Npz::new(members).encode()));
    files
}
