//! Writes pickles, opcode by opcode, from the protocol's description in `pickletools`.

/// The bytes of a pickle. Every method appends one operation, whether it makes sense or not.
#[derive(Clone, Debug, Default)]
pub struct Pickle {
    bytes: Vec<u8>,
}

impl Pickle {
    /// A pickle that states its protocol.
    pub fn new(protocol: u8) -> Self {
        Pickle::default().op(0x80).raw(&[protocol])
    }

    /// An operation without an argument, or only the byte of one.
    pub fn op(self, byte: u8) -> Self {
        self.raw(&[byte])
    }

    /// Raw bytes.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// `MARK`.
    pub fn mark(self) -> Self {
        self.op(b'(')
    }

    /// `NONE`.
    pub fn none(self) -> Self {
        self.op(b'N')
    }

    /// `BININT1`.
    pub fn int(self, number: u8) -> Self {
        self.raw(&[b'K', number])
    }

    /// `BINUNICODE`.
    pub fn text(self, text: &str) -> Self {
        self.op(b'X').raw(&(text.len() as u32).to_le_bytes()).raw(text.as_bytes())
    }

    /// `SHORT_BINUNICODE`.
    pub fn short(self, text: &str) -> Self {
        self.raw(&[0x8C, text.len() as u8]).raw(text.as_bytes())
    }

    /// `GLOBAL`.
    pub fn global(self, module: &str, name: &str) -> Self {
        self.raw(format!("c{module}\n{name}\n").as_bytes())
    }

    /// `INST`, which calls with what is marked.
    pub fn inst(self, module: &str, name: &str) -> Self {
        self.raw(format!("i{module}\n{name}\n").as_bytes())
    }

    /// `STACK_GLOBAL` after both texts.
    pub fn stack_global(self, module: &str, name: &str) -> Self {
        self.short(module).short(name).op(0x93)
    }

    /// `TUPLE1` and `REDUCE`: a call with the text.
    pub fn call(self, argument: &str) -> Self {
        self.text(argument).op(0x85).op(b'R')
    }

    /// `BINPUT`.
    pub fn put(self, key: u8) -> Self {
        self.raw(&[b'q', key])
    }

    /// `BINGET`.
    pub fn get(self, key: u8) -> Self {
        self.raw(&[b'h', key])
    }

    /// `POP`.
    pub fn pop(self) -> Self {
        self.op(b'0')
    }

    /// `FRAME`, of this length.
    pub fn frame(self, len: u64) -> Self {
        self.op(0x95).raw(&len.to_le_bytes())
    }

    /// An empty `OrderedDict`.
    pub fn ordered(self) -> Self {
        self.global("collections", "OrderedDict").op(b')').op(b'R')
    }

    /// A tensor of three 32-bit floats in the storage `key`.
    pub fn tensor(self, key: &str) -> Self {
        self.global("torch._utils", "_rebuild_tensor_v2")
            .mark()
            .mark()
            .text("storage")
            .global("torch", "FloatStorage")
            .text(key)
            .text("cpu")
            .int(3)
            .op(b't')
            .op(b'Q')
            .int(0)
            .int(3)
            .op(0x85)
            .int(1)
            .op(0x85)
            .op(0x89)
            .ordered()
            .op(b't')
            .op(b'R')
    }

    /// The bytes, without a last operation.
    pub fn cut(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes, with `STOP`.
    pub fn stop(self) -> Vec<u8> {
        self.op(b'.').cut()
    }
}

/// A checkpoint with one tensor, as the members `data.pkl` and its storage.
pub fn state_dict(protocol: u8) -> Pickle {
    Pickle::new(protocol).op(b'}').put(0).text("weight").tensor("0").op(b's')
}

/// The pickles and the storage of a file as torch 0.2 to 1.5 wrote it, around this object.
pub fn legacy(object: &[u8]) -> Vec<u8> {
    let magic = b"\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
    let mut file = Pickle::new(2).raw(magic).stop();
    file.extend(Pickle::new(2).raw(b"M\xE9\x03").stop());
    file.extend(Pickle::new(2).op(b'}').stop());
    file.extend(object);
    file.extend(Pickle::new(2).op(b']').text("0").op(b'a').stop());
    file.extend(3_u64.to_le_bytes());
    file.extend([1_f32, 2.0, 3.0].iter().flat_map(|it| it.to_le_bytes()));
    file
}

/// A tar archive of these members.
pub fn tar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for (name, content) in members {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = b'0';
        header[257..262].copy_from_slice(b"ustar");
        file.extend(header);
        file.extend(content);
        file.resize(file.len().next_multiple_of(512), 0);
    }
    file.resize(file.len() + 1024, 0);
    file
}

/// The member `storages` of a file as torch 0.1 wrote it: two storages, the second with this
/// pickle, and the list of views.
pub fn storages(second: &[u8]) -> Vec<u8> {
    let describe = |key: u8| {
        let tuple = Pickle::new(2).int(key).text("cpu").global("torch", "FloatStorage");
        tuple.op(0x87).stop()
    };
    let data = [&2_u64.to_le_bytes()[..], &[0xFF; 8]].concat();
    let first = Pickle::new(2).int(2).stop();
    [
        first,
        describe(0),
        data.clone(),
        second.to_vec(),
        describe(1),
        data,
        Pickle::new(2).op(b']').stop(),
    ]
    .concat()
}
