//! `weighbridge extract`: one tensor as a file of its own.

use crate::args::ExtractArgs;
use crate::column::{self, Fault};
use crate::data;
use crate::formats;
use crate::npy;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::progress::Bars;
use crate::session::{Halt, Session};
use crate::tensors;
use crate::terminal;
use crate::text::Text;
use crate::values;
use crate::windows::{FileSource, ReadError};
use std::io::{self, Write};
use std::path::Path;
use weighbridge::codec::Decoder;
use weighbridge::format::idv::Header;
use weighbridge::{
    Cursor, DType, DimEncoding, Element, Endianness, File, Finding, Layout, Name, NameEncoding,
    Opening, Severity, Status, Tensor,
};

/// Why a tensor was not written.
enum Failure {
    /// Of the file that is read.
    Read(Halt),
    /// Of the file that is written.
    Write(io::Error),
    /// The file or the tensor is broken.
    Invalid(String),
    /// It cannot be written in this form.
    Unsupported(String),
    /// There is no such tensor.
    Missing,
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        Failure::Read(halt)
    }
}

impl From<ReadError> for Failure {
    fn from(err: ReadError) -> Self {
        Failure::Read(err.into())
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Failure::Write(err)
    }
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &ExtractArgs) -> Result<Outcome, String> {
    args.open.format()?;
    survive_size_limits();
    let file = Text::from(args.file.as_path());
    let target = || match &args.output {
        Some(path) => Text::from(path.as_path()),
        None => Text::from("the current folder"),
    };
    let name = Text::from(Path::new(&args.name));
    Ok(match extract(args) {
        Ok(path) => {
            terminal::note(format_args!("wrote {}", Text::from(path.as_path())));
            Outcome::Valid
        }
        Err(Failure::Read(halt @ Halt::Fault(_))) => {
            terminal::complain(&file, format_args!("\"{name}\": {halt}"));
            Outcome::Invalid
        }
        Err(Failure::Read(halt)) => {
            terminal::complain(&file, halt);
            Outcome::Failed
        }
        Err(Failure::Write(err)) => {
            terminal::complain(&target(), err);
            Outcome::Failed
        }
        Err(Failure::Missing) => {
            terminal::complain(&file, format_args!("there is no tensor \"{name}\""));
            Outcome::Failed
        }
        Err(Failure::Invalid(why)) => {
            terminal::complain(&file, why);
            Outcome::Invalid
        }
        Err(Failure::Unsupported(why)) => {
            terminal::complain(&file, format_args!("\"{name}\": {why}"));
            Outcome::Unchecked
        }
    })
}

fn extract(args: &ExtractArgs) -> Result<std::path::PathBuf, Failure> {
    let path = args.file.as_path();
    let source = FileSource::open(path).map_err(Halt::Read)?;
    let bars = Bars::new();
    let bar = bars.file(Text::from(path).to_string(), source.len());
    let mut session = Session::new(source, bar);
    let format = match args.open.format().unwrap_or_default() {
        Some(format) => Some(format),
        None => formats::recognise(&mut session, path)?,
    };

    let mut findings = Vec::new();
    let mut opening = Opening::of(format);
    let opened = session.ask(|source| opening.step(source, &mut |finding| findings.push(finding)));
    let file = match opened {
        Err(Halt::Refused(rule)) => {
            return Err(Failure::Invalid(first_fatal(&findings, rule.id())));
        }
        opened => opened?,
    };
    let name = Name::new(args.name.as_encoded_bytes(), NameEncoding::Plain);
    let tensor = find(&mut session, &file, &name)?;
    if tensor.status == Status::Broken {
        let why = format!("tensor \"{name}\" is broken; check tells which rule");
        return Err(Failure::Invalid(why));
    }
    let target = |extension| match &args.output {
        Some(path) => Output::named(path, &args.file),
        None => Output::free("tensor", extension),
    };
    let out = if args.raw {
        let len = length(&mut session, &file, &tensor)?;
        let mut out = target("bin")?;
        data::bytes(&mut session, &file, &tensor, len, |piece| {
            Ok::<(), Failure>(out.write_all(piece)?)
        })?;
        out
    } else {
        let form = Form::of(tensor.dtype, tensor.endianness).ok_or_else(|| {
            let dtype = tensor.dtype.name();
            let why = format!("NumPy has no type for {dtype} data; --raw writes its bytes");
            Failure::Unsupported(why)
        })?;
        if let File::Idv(header) = &file {
            return column(&mut session, header, &tensor, &form, target("npy")?);
        }
        if !data::is_dense(&tensor) {
            let layout = tensor.layout.name();
            let why = format!("its layout is {layout}; --raw writes its bytes");
            return Err(Failure::Unsupported(why));
        }
        let len = length(&mut session, &file, &tensor)?;
        if tensor.bytes().is_none_or(|bytes| bytes > len) {
            return Err(Failure::Unsupported("its data are not as long as its shape".to_owned()));
        }
        let shape = shape(&mut session, &tensor)?;
        let mut out = target("npy")?;
        out.write_all(&npy::header(form.descr, &shape))?;
        data::elements(&mut session, &file, &tensor, tensor.elements, |bytes, count| {
            Ok::<(), Failure>(form.write(bytes, count, &mut out)?)
        })?;
        for note in notes(&tensor, &form) {
            terminal::note(format_args!("\"{name}\": {note}"));
        }
        out
    };
    session.verify_unchanged().map_err(Halt::Read)?;
    Ok(out.finish()?)
}

/// Writes a column of a data view.
fn column(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    form: &Form,
    mut out: Output,
) -> Result<std::path::PathBuf, Failure> {
    let extents = session.ask(|source| tensors::shape(source, tensor))?;
    let shape: Option<Vec<u64>> = extents.into_iter().collect();
    let shape = shape.ok_or_else(|| {
        Failure::Unsupported("its vectors have no fixed length, so they are no array".to_owned())
    })?;
    let product = |extents: &[u64]| extents.iter().try_fold(1_u64, |n, it| n.checked_mul(*it));
    let width = tensor.dtype.bits().div_ceil(8) as usize;
    let most = column::MOST.max(session.len().saturating_mul(column::TIMES));
    let bytes = product(&shape).and_then(|elements| elements.checked_mul(width as u64));
    let length = product(shape.get(1..).unwrap_or_default());
    let Some((length, _)) = length.zip(bytes.filter(|bytes| *bytes <= most)) else {
        let bytes = bytes.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
        let why = format!("its rows would fill {bytes} bytes, and {most} are written at most");
        return Err(Failure::Unsupported(why));
    };
    out.write_all(&npy::header(form.descr, &shape))?;
    column::write(session, header, tensor, (length, width), &mut out).map_err(
        |fault: Fault<Failure>| match fault {
            Fault::Other(failure) => failure,
            Fault::Unsupported(why) => Failure::Unsupported(why.to_owned()),
        },
    )?;
    session.verify_unchanged().map_err(Halt::Read)?;
    Ok(out.finish()?)
}

/// The sentence of the finding that ended the file.
fn first_fatal(findings: &[Finding], rule: &str) -> String {
    match findings.iter().find(|finding| finding.severity() == Severity::Fatal) {
        Some(finding) => format!("{} at {}: {finding}", finding.rule.id(), finding.at),
        None => format!("breaks {rule}"),
    }
}

fn find(session: &mut Session<'_>, file: &File, name: &Name<'_>) -> Result<Tensor, Failure> {
    let mut cursor = Cursor::default();
    match session.ask(|source| file.find(source, name, &mut cursor)) {
        Ok(Some(tensor)) => Ok(tensor),
        Ok(None) | Err(Halt::Refused(_)) => Err(Failure::Missing),
        Err(halt) => Err(halt.into()),
    }
}

/// The extents. Where they are not in the file, the elements are written as a
/// row.
fn shape(session: &mut Session<'_>, tensor: &Tensor) -> Result<Vec<u64>, Halt> {
    let extents = session.ask(|source| tensors::shape(source, tensor))?;
    let known: Option<Vec<u64>> = extents.into_iter().collect();
    Ok(known.unwrap_or_else(|| vec![tensor.elements]))
}

/// How many bytes the data of a tensor decodes to, if it can be decoded.
fn length(session: &mut Session<'_>, file: &File, tensor: &Tensor) -> Result<u64, Failure> {
    if tensor.chunks.count() == 0 && tensor.elements == 0 && tensor.status == Status::Sound {
        return Ok(0);
    }
    let unsupported = |why: &str| Err(Failure::Unsupported(why.to_owned()));
    match tensor.chunks.count() {
        0 => return unsupported("it has no data in the file"),
        1 => {}
        _ => return unsupported("its data are in several pieces"),
    }
    let chunk = session.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|chunk| Decoder::decodes(chunk.encoding)) else {
        let encoding = tensor.encoding.name();
        return unsupported(&format!("its data are stored as {encoding}, which is not known"));
    };
    match data::len(&chunk) {
        Some(len) => Ok(len),
        None => unsupported("nothing tells how long its data are"),
    }
}

/// What is worth knowing about an array whose form is not quite the tensor's.
fn notes(tensor: &Tensor, form: &Form) -> Vec<String> {
    let mut notes = Vec::new();
    if !matches!(form.how, How::Copy) && tensor.dtype != DType::Bool {
        notes.push(format!("{} elements are written as {}", tensor.dtype.name(), form.descr));
    }
    if tensor.layout != Layout::RowMajor {
        let layout = tensor.layout.name();
        notes.push(format!("its layout is {layout}; elements are in the order of the file"));
    }
    if tensor.dims.encoding == DimEncoding::External {
        notes.push("its extents are not in the file; elements are written as a row".to_owned());
    }
    notes
}

/// How elements of a type stand in an .npy file.
struct Form {
    descr: &'static str,
    dtype: DType,
    endianness: Endianness,
    how: How,
}

/// What happens to an element on its way.
enum How {
    /// Its bytes stay as they are.
    Copy,
    /// It is one byte afterwards.
    Byte,
    /// It is a float of 32 bits afterwards.
    Float,
}

impl Form {
    /// `None` where NumPy has no such type.
    fn of(dtype: DType, endianness: Endianness) -> Option<Form> {
        let (little, big, how) = match dtype {
            DType::I8 => ("|i1", "|i1", How::Copy),
            DType::U8 => ("|u1", "|u1", How::Copy),
            DType::I16 => ("<i2", ">i2", How::Copy),
            DType::U16 => ("<u2", ">u2", How::Copy),
            DType::I32 => ("<i4", ">i4", How::Copy),
            DType::U32 => ("<u4", ">u4", How::Copy),
            DType::I64 => ("<i8", ">i8", How::Copy),
            DType::U64 => ("<u8", ">u8", How::Copy),
            DType::F16 => ("<f2", ">f2", How::Copy),
            DType::F32 => ("<f4", ">f4", How::Copy),
            DType::F64 => ("<f8", ">f8", How::Copy),
            DType::C64 => ("<c8", ">c8", How::Copy),
            DType::Bool => ("|b1", "|b1", How::Byte),
            DType::I4 | DType::I2 | DType::I1 | DType::T2 | DType::T1 => ("|i1", "|i1", How::Byte),
            DType::U4 | DType::U2 | DType::U1 => ("|u1", "|u1", How::Byte),
            // What is left of numbers are floats that are narrow, or in blocks.
            dtype if dtype.is_numeric() => ("<f4", "<f4", How::Float),
            _ => return None,
        };
        let descr = if endianness == Endianness::Big { big } else { little };
        Some(Form { descr, dtype, endianness, how })
    }

    /// Writes the first `count` elements of `bytes`.
    fn write(&self, bytes: &[u8], count: u64, out: &mut impl Write) -> io::Result<()> {
        let elements = values::elements(self.dtype, bytes, count, self.endianness);
        match self.how {
            How::Copy => out.write_all(bytes),
            // NumPy expects 0 or 1, so other bytes are not passed on.
            How::Byte if self.dtype == DType::Bool => {
                elements.into_iter().try_for_each(|e| out.write_all(&[low_byte(e).min(1)]))
            }
            How::Byte => elements.into_iter().try_for_each(|e| out.write_all(&[low_byte(e)])),
            How::Float => elements.into_iter().try_for_each(|e| match e {
                Element::F32(value) => out.write_all(&value.to_le_bytes()),
                _ => Err(io::ErrorKind::InvalidData.into()),
            }),
        }
    }
}

/// An element that fits into a byte, in two's complement.
fn low_byte(element: Element) -> u8 {
    match element {
        Element::Int(value) => value.to_le_bytes()[0],
        Element::Uint(value) => value.to_le_bytes()[0],
        Element::Bool(value) => value.into(),
        _ => 0,
    }
}

/// A limit on file sizes (`ulimit -f`) ends a process with a signal. With a
/// handler the write fails instead, and the temporary file is removed.
fn survive_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Without the handler all works as well, but for that limit.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(dtype: DType, endianness: Endianness, bytes: &[u8], count: u64) -> Vec<u8> {
        let form = Form::of(dtype, endianness).expect("NumPy can hold it");
        let mut out = Vec::new();
        form.write(bytes, count, &mut out).expect("a vector takes all");
        out
    }

    #[test]
    fn packed_elements_get_a_byte_each() {
        let little = Endianness::Little;
        assert_eq!(written(DType::I4, little, &[0x8F, 0x07], 3), [0xFF, 0xF8, 7]);
        assert_eq!(written(DType::U2, little, &[0b11_10_01_00], 4), [0, 1, 2, 3]);
        assert_eq!(written(DType::T1, little, &[0b10], 2), [0xFF, 1]);
        assert_eq!(written(DType::Bool, little, &[0, 1, 7], 3), [0, 1, 1]);
    }

    #[test]
    fn narrow_floats_are_widened() {
        let one_and_half = 1.5_f32.to_le_bytes();
        assert_eq!(written(DType::BF16, Endianness::Little, &[0xC0, 0x3F], 1), one_and_half);
        assert_eq!(written(DType::BF16, Endianness::Big, &[0x3F, 0xC0], 1), one_and_half);
        assert_eq!(written(DType::F8E4M3, Endianness::Little, &[0x3C], 1), one_and_half);
        assert_eq!(written(DType::F8E5M2, Endianness::Little, &[0x3E], 1), one_and_half);
        assert_eq!(written(DType::F8E4M3Fnuz, Endianness::Little, &[0x44], 1), one_and_half);
        assert_eq!(written(DType::F8E5M2Fnuz, Endianness::Little, &[0x42], 1), one_and_half);
        let halves = [0.5_f32, 1.5].map(f32::to_le_bytes).concat();
        assert_eq!(written(DType::F4, Endianness::Little, &[0x31], 2), halves);
        let two = 2.0_f32.to_le_bytes();
        assert_eq!(written(DType::F8E8M0, Endianness::Little, &[0x80], 1), two);
    }

    #[test]
    fn byte_order_is_told_and_not_changed() {
        let form = Form::of(DType::F32, Endianness::Big).expect("NumPy can hold it");
        assert_eq!(form.descr, ">f4");
        assert_eq!(written(DType::F32, Endianness::Big, &[1, 2, 3, 4], 1), [1, 2, 3, 4]);
        let descr = |dtype, order| Form::of(dtype, order).map(|form| form.descr);
        assert_eq!(descr(DType::C64, Endianness::Little), Some("<c8"));
        assert_eq!(descr(DType::C64, Endianness::Big), Some(">c8"));
    }

    /// What `inspect` shows as numbers can be extracted, and complex numbers.
    #[test]
    fn every_number_has_a_form() {
        for dtype in DType::ALL {
            let expected = dtype.is_numeric() || *dtype == DType::C64;
            let form = Form::of(*dtype, Endianness::Little);
            assert_eq!(form.is_some(), expected, "{}", dtype.name());
            let (Some(form), Some((count, len))) = (form, dtype.unit()) else { continue };
            let mut out = Vec::new();
            form.write(&vec![0; len as usize], count.into(), &mut out).expect("a vector takes all");
            let width: usize = form.descr[2..].parse().expect("NumPy's width");
            assert_eq!(out.len(), count as usize * width, "{}", dtype.name());
        }
    }
}
