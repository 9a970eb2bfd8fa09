//! The rules for NPY 1.0 to 3.0: the documentation of `numpy.lib.format`.

use crate::format::{Fault, Format};
use crate::model::DType;
use crate::rule::{Rule, rules};

rules! { Format::Npy.code();
    NPY_LENGTH = "NPY-LENGTH", Fatal, Implied,
        "the file ends in the header: {found} bytes are left of the {expected} that follow",
        "Format Version 1.0: magic string, version, HEADER_LEN and the header come before the data";
    NPY_MAGIC = "NPY-MAGIC", Fatal, Stated,
        "the first bytes are not the magic string, \\x93NUMPY",
        "Format Version 1.0: the first 6 bytes are a magic string: exactly \\x93NUMPY";
    NPY_VERSION = "NPY-VERSION", Fatal, Stated,
        "the version is {found:v}; only 1.0, 2.0 and 3.0 are defined",
        "Format Version 1.0, 2.0, 3.0: the next two bytes are the major and the minor version";
    NPY_HEADER_LIMIT = "NPY-HEADER-LIMIT", Fatal, Silent,
        "the header takes {found} bytes; this reader takes up to {expected}",
        "a bound of this reader, far above that of numpy.load, max_header_size";
    NPY_HEADER_LONG = "NPY-HEADER-LONG", Lint, Silent,
        "the header takes {found} bytes; the default limit of numpy.load is {expected}",
        "numpy.load: max_header_size, 10,000 by default, limits what is parsed",
        why "a limit of `numpy.load`, which can be raised";
    NPY_ASCII = "NPY-ASCII", Lint, Silent,
        "the header has the byte {found:#x}, which is not ASCII: NumPy reads it as Latin-1",
        "Format Version 3.0: in practice, the ASCII string of versions 1.0 and 2.0 is Latin-1",
        why "NumPy writes the name of a field as Latin-1 where it can, and reads it so";
    NPY_UTF8 = "NPY-UTF8", Fatal, Stated,
        "the header is not UTF-8",
        "Format Version 3.0: the header is a UTF-8 encoded string";
    NPY_SYNTAX = "NPY-SYNTAX", Fatal, Stated,
        "the byte {found:#x} cannot stand here in the dictionary",
        "Format Version 1.0: the header contains a Python literal expression of a dictionary";
    NPY_END = "NPY-END", Fatal, Stated,
        "the header ends inside its dictionary",
        "Format Version 1.0: the header contains a Python literal expression of a dictionary";
    NPY_DEPTH = "NPY-DEPTH", Fatal, Silent,
        "types nest deeper than {expected} levels",
        "a bound of this reader; real headers nest two levels";
    NPY_LONG = "NPY-LONG", Violation, Implied,
        "an integer has the suffix L",
        "Format Version 1.0: the header is a literal; Python 2 wrote 3L, which is none in Python 3",
        why "Python 2 wrote `3L`; `numpy.load` filters it out of versions 1.0 and 2.0";
    NPY_SPACE = "NPY-SPACE", Lint, Silent,
        "the dictionary has the control character {found:#x} between its parts",
        "any white space may stand in a literal; every writer stores single spaces",
        why "no reader depends on it";
    NPY_KEY_UNKNOWN = "NPY-KEY-UNKNOWN", Fatal, Stated,
        "the dictionary has a key that is none of descr, fortran_order and shape",
        "Format Version 1.0: the dictionary contains three keys";
    NPY_KEY_MISSING = "NPY-KEY-MISSING", Fatal, Stated,
        "the dictionary has {found} of the 3 keys descr, fortran_order and shape",
        "Format Version 1.0: the dictionary contains three keys";
    NPY_KEY_TWICE = "NPY-KEY-TWICE", Violation, Implied,
        "a key of the dictionary occurs twice",
        "Format Version 1.0: the dictionary contains three keys; Python keeps the last of equal ones";
    NPY_KEY_ORDER = "NPY-KEY-ORDER", Lint, Silent,
        "the keys are not in alphabetic order",
        "Format Version 1.0: keys are sorted; a writer should do so, a reader must not depend on it";
    NPY_FORTRAN = "NPY-FORTRAN", Fatal, Stated,
        "fortran_order is neither True nor False",
        "Format Version 1.0: fortran_order is a bool";
    NPY_SHAPE = "NPY-SHAPE", Fatal, Stated,
        "shape is not a tuple of integers",
        "Format Version 1.0: shape is a tuple of int";
    NPY_SHAPE_NEGATIVE = "NPY-SHAPE-NEGATIVE", Fatal, Implied,
        "an extent of the shape is negative",
        "Format Version 1.0: shape is the shape of the array",
        why "`numpy.load` takes -1 to mean as many as the data has";
    NPY_SHAPE_SIZE = "NPY-SHAPE-SIZE", Fatal, Implied,
        "the array takes 2^63 bytes or more",
        "Format Version 1.0: the data follows, as many bytes as shape and descr say",
        why "beside an extent of 0, whether the product wraps depends on the order of multiplication";
    NPY_RANK = "NPY-RANK", Fatal, Silent,
        "the array has {found} dimensions; NumPy has at most {expected}",
        "an array of NumPy has at most 64 dimensions";
    NPY_RANK_32 = "NPY-RANK-32", Lint, Silent,
        "the array has {found} dimensions; NumPy before 2.0 has at most {expected}",
        "an array of NumPy 1 has at most 32 dimensions";
    NPY_DESCR = "NPY-DESCR", Fatal, Stated,
        "descr names a type {quoted} that NumPy does not have",
        "Format Version 1.0: descr can be passed to the numpy.dtype constructor";
    NPY_DESCR_FORM = "NPY-DESCR-FORM", Unchecked, Stated,
        "descr {quoted} is not in the form that dtype.str has, so type and size were not checked",
        "Format Version 1.0: descr can be passed to numpy.dtype; every writer stores dtype.descr or dtype.str",
        why "`numpy.dtype` accepts names such as `float32`; the documentation allows them and no writer stores them";
    NPY_BYTE_ORDER = "NPY-BYTE-ORDER", Violation, Implied,
        "the type of {found} bytes has no byte order, < or >; it is read as little-endian",
        "array interface protocol, typestr: it begins with the byte order; without one the reader's own counts",
        why "the type has the byte order of the reader's machine; it is read as little-endian";
    NPY_OBJECT = "NPY-OBJECT", Fatal, Stated,
        "the elements are Python objects: the data is a pickle, which runs code when it is loaded",
        "Format Version 1.0: if the dtype contains Python objects, the data is a Python pickle of the array",
        why "the data is a pickle, which runs code when it is loaded";
    NPY_TEXT = "NPY-TEXT", Fatal, Implied,
        "the text has {found:#x}, which is no code point; the last is {expected:#x}",
        "array interface protocol, typestr: U is Unicode, of a fixed length, in UCS-4",
        why "`numpy.load` reads such an array, and fails where its text is used; surrogates, which Python's text may have, are read";
    NPY_TEXT_FIELD = "NPY-TEXT-FIELD", Unchecked, Silent,
        "fields of the elements are text, whose code points were not checked",
        "array interface protocol, descr: the fields of an element";
    NPY_NEWLINE = "NPY-NEWLINE", Violation, Stated,
        "the header does not end with a newline",
        "Format Version 1.0: the header is terminated by a newline";
    NPY_PADDING = "NPY-PADDING", Violation, Stated,
        "the header is padded with the byte {found:#x} instead of spaces",
        "Format Version 1.0: the header is padded with spaces";
    NPY_ALIGN = "NPY-ALIGN", Lint, Silent,
        "the data begins at {found} bytes, which is not a multiple of {expected}",
        "Format Version 1.0: padded to a multiple of 64 bytes, before NumPy 1.14 of 16; no reader depends on it";
    NPY_DATA = "NPY-DATA", Fatal, Implied,
        "the array takes {expected} bytes and has {found} after the header",
        "Format Version 1.0: the data follows the header, np.prod(shape) elements";
    NPY_TRAILING = "NPY-TRAILING", Lint, Silent,
        "{found} bytes follow the array",
        "numpy.save may append several arrays to one file; numpy.load reads the first only";
}

/// The rule for a fault that a shared check finds: a file is one array, and nothing else.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    match fault {
        Fault::Element(DType::Utf32) => Some(NPY_TEXT),
        _ => None,
    }
}
