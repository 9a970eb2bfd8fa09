//! Writes checkpoints as `torch.save` does: the object as a pickle, and a record for each storage.

use super::npz::crc;
use super::pickle::Pickle;

/// An archive.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The folder of all records.
    pub top: String,
    /// Names and contents, in order.
    pub records: Vec<Record>,
    /// The alignment of contents.
    pub alignment: usize,
}

/// A record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name in the folder.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
    /// The CRC-32 that the directory says; `None` for the right one.
    pub crc: Option<u32>,
    /// The length that headers say; `None` for the right one.
    pub len: Option<u32>,
    /// It is the only one in this folder.
    pub folder: Option<String>,
}

impl Record {
    /// A record.
    pub fn new(name: &str, content: &[u8]) -> Self {
        Record { name: name.into(), content: content.into(), crc: None, len: None, folder: None }
    }
}

impl Checkpoint {
    /// A checkpoint of this object with storages named from 0 on.
    pub fn new(object: Vec<u8>, storages: &[&[u8]]) -> Self {
        let mut records = vec![
            Record::new("data.pkl", &object),
            Record::new(".format_version", b"1"),
            Record::new(".storage_alignment", b"64"),
            Record::new("byteorder", b"little"),
        ];
        for (key, content) in storages.iter().enumerate() {
            records.push(Record::new(&format!("data/{key}"), content));
        }
        records.push(Record::new("version", b"3\n"));
        records.push(Record::new(".data/serialization_id", &[b'7'; 40]));
        Checkpoint { top: "archive".into(), records, alignment: 64 }
    }

    /// The record of this name.
    pub fn record(&mut self, name: &str) -> &mut Record {
        self.records.iter_mut().find(|record| record.name == name).expect("a record of this name")
    }

    /// Without the record of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.records.retain(|record| record.name != name);
        self
    }

    /// With another content for a record.
    #[must_use]
    pub fn with(mut self, name: &str, content: &[u8]) -> Self {
        self.record(name).content = content.into();
        self
    }

    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for record in &self.records {
            let folder = record.folder.as_ref().unwrap_or(&self.top);
            let name = match folder.as_str() {
                "" => record.name.clone(),
                folder => format!("{folder}/{}", record.name),
            };
            let at = out.len();
            let len = record.len.unwrap_or(record.content.len() as u32);
            let is_empty = record.content.is_empty();
            let flags: u16 = if is_empty { 0x0800 } else { 0x0808 };
            let sum = record.crc.unwrap_or_else(|| crc(&record.content));
            let head = at + 30 + name.len() + 4;
            let fill = head.next_multiple_of(self.alignment) - head;
            out.extend(b"PK\x03\x04");
            out.extend([0, 0]);
            out.extend(flags.to_le_bytes());
            out.extend([0; 18]);
            out.extend((name.len() as u16).to_le_bytes());
            out.extend((fill as u16 + 4).to_le_bytes());
            out.extend(name.as_bytes());
            out.extend(b"FB");
            out.extend((fill as u16).to_le_bytes());
            out.extend(vec![b'Z'; fill]);
            out.extend(&record.content);
            if !is_empty {
                out.extend(b"PK\x07\x08");
                [sum, len, len].iter().for_each(|word| out.extend(word.to_le_bytes()));
            }
            directory.extend(b"PK\x01\x02");
            directory.extend([0; 4]);
            directory.extend(flags.to_le_bytes());
            directory.extend([0; 6]);
            [sum, len, len].iter().for_each(|word| directory.extend(word.to_le_bytes()));
            directory.extend((name.len() as u16).to_le_bytes());
            directory.extend([0; 12]);
            directory.extend((at as u32).to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (at, len, count) = (out.len(), directory.len(), self.records.len());
        out.extend(directory);
        let end = out.len();
        out.extend(b"PK\x06\x06");
        out.extend(44_u64.to_le_bytes());
        out.extend([0x1E, 3, 45, 0]);
        out.extend([0; 8]);
        [count, count, len, at].iter().for_each(|word| out.extend((*word as u64).to_le_bytes()));
        out.extend(b"PK\x06\x07");
        out.extend([0; 4]);
        out.extend((end as u64).to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend(b"PK\x05\x06");
        out.extend([0; 4]);
        [count, count].iter().for_each(|word| out.extend((*word as u16).to_le_bytes()));
        [len, at].iter().for_each(|word| out.extend((*word as u32).to_le_bytes()));
        out.extend([0; 2]);
        out
    }
}

/// An archive of TorchScript: the storages and the object of a module, what its code names, and other
/// records, in the order of `torch.jit.save`.
pub fn program(object: Vec<u8>, storages: &[&[u8]], others: &[(&str, &[u8])]) -> Checkpoint {
    let mut records = Vec::new();
    for (key, content) in storages.iter().enumerate() {
        records.push(Record::new(&format!("data/{key}"), content));
    }
    records.push(Record::new("data.pkl", &object));
    records.extend(others.iter().map(|(name, content)| Record::new(name, content)));
    records.push(Record::new("constants.pkl", &Pickle::new(2).op(b')').stop()));
    records.push(Record::new("version", b"3\n"));
    records.push(Record::new("byteorder", b"little"));
    Checkpoint { top: "net".into(), records, alignment: 64 }
}

/// A view of a storage, as arguments of the functions of `torch._utils`.
#[derive(Clone, Debug)]
pub struct View {
    /// The class of the storage, its key, and how many elements it is said to have.
    pub class: &'static str,
    pub key: &'static str,
    pub count: i64,
    /// The first element, the extents, the strides.
    pub first: i64,
    pub size: Vec<i64>,
    pub stride: Vec<i64>,
}

impl View {
    /// All of a storage of floats, in row-major order.
    pub fn floats(key: &'static str, size: &[i64]) -> Self {
        let mut stride = vec![1; size.len()];
        for axis in (1..size.len()).rev() {
            stride[axis - 1] = stride[axis] * size[axis];
        }
        let count = size.iter().product();
        View { class: "FloatStorage", key, count, first: 0, size: size.into(), stride }
    }

    /// The same with other strides.
    #[must_use]
    pub fn strides(mut self, stride: &[i64]) -> Self {
        self.stride = stride.into();
        self
    }
}

impl Pickle {
    /// An integer, in the shortest form that `pickle` writes.
    pub fn number(self, number: i64) -> Self {
        match number {
            0..=0xFF => self.int(number as u8),
            0x100..=0xFFFF => self.op(b'M').raw(&(number as u16).to_le_bytes()),
            _ if i32::try_from(number).is_ok() => self.op(b'J').raw(&(number as i32).to_le_bytes()),
            _ => self.op(0x8A).raw(&[8]).raw(&number.to_le_bytes()),
        }
    }

    /// A tuple of numbers.
    pub fn numbers(self, numbers: &[i64]) -> Self {
        let marked = numbers.iter().fold(self.mark(), |pickle, number| pickle.number(*number));
        marked.op(b't')
    }

    /// The persistent id of a storage, and what it stands for.
    pub fn storage(self, view: &View) -> Self {
        let module = if view.class == "UntypedStorage" { "torch.storage" } else { "torch" };
        self.mark()
            .text("storage")
            .global(module, view.class)
            .text(view.key)
            .text("cpu")
            .number(view.count)
            .op(b't')
            .op(b'Q')
    }

    /// Storage, position, extents and strides, after a mark.
    pub fn view(self, view: &View) -> Self {
        self.mark().storage(view).number(view.first).numbers(&view.size).numbers(&view.stride)
    }

    /// A tensor by `_rebuild_tensor_v2`.
    pub fn of(self, view: &View) -> Self {
        self.global("torch._utils", "_rebuild_tensor_v2")
            .view(view)
            .op(0x89)
            .ordered()
            .op(b't')
            .op(b'R')
    }

    /// A dictionary of named tensors.
    pub fn state(tensors: &[(&str, View)]) -> Vec<u8> {
        let start = Pickle::new(2).op(b'}').mark();
        let all = tensors.iter().fold(start, |pickle, (name, view)| pickle.text(name).of(view));
        all.op(b'u').stop()
    }
}

/// A file of torch before 1.6: four pickles, the keys, and each storage after its number of elements.
pub fn older(object: &[u8], storages: &[(&str, u64, &[u8])]) -> Vec<u8> {
    let mut out = b"\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.".to_vec();
    out.extend(Pickle::new(2).number(1001).stop());
    let system = Pickle::new(2).op(b'}').mark().text("protocol_version").number(1001);
    let system = system.text("little_endian").op(0x88).text("type_sizes").op(b'}').op(b'u');
    out.extend(system.stop());
    out.extend(object);
    let keys = storages.iter().fold(Pickle::new(2).op(b']').mark(), |it, (key, ..)| it.text(key));
    out.extend(keys.op(b'e').stop());
    for (_, count, content) in storages {
        out.extend(count.to_le_bytes());
        out.extend(*content);
    }
    out
}

/// The bytes of floats that count from 0.
pub fn floats(count: u32) -> Vec<u8> {
    (0..count).flat_map(|number| (number as f32).to_le_bytes()).collect()
}
