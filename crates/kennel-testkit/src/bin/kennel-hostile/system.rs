//! Owns the raw system call: typed arguments in, a number or an error out.

use std::ffi::CStr;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// One argument of a system call. A buffer must be as large as the kernel takes it to be.
pub(crate) enum Argument<'a> {
    /// A number, a flag set or a descriptor.
    Number(i64),
    /// A string that the kernel reads.
    Text(&'a CStr),
    /// Bytes that the kernel reads.
    Bytes(&'a [u8]),
    /// A structure that the kernel reads, as words.
    Words(&'a [u64]),
    /// Bytes that the kernel fills.
    Fill(&'a mut [u8]),
    /// A structure that the kernel reads or fills, as words.
    FillWords(&'a mut [u64]),
    /// No pointer.
    Null,
}

impl Argument<'_> {
    fn register(&mut self) -> libc::c_long {
        let address = match self {
            Self::Number(number) => return *number,
            Self::Text(text) => text.as_ptr().expose_provenance(),
            Self::Bytes(bytes) => bytes.as_ptr().expose_provenance(),
            Self::Words(words) => words.as_ptr().expose_provenance(),
            Self::Fill(bytes) => bytes.as_mut_ptr().expose_provenance(),
            Self::FillWords(words) => words.as_mut_ptr().expose_provenance(),
            Self::Null => 0,
        };
        address.cast_signed() as libc::c_long
    }
}

/// Makes a system call.
pub(crate) fn call<const COUNT: usize>(number: libc::c_long, mut arguments: [Argument<'_>; COUNT]) -> io::Result<i64> {
    let mut registers = [0; 6];
    for (register, argument) in registers.iter_mut().zip(&mut arguments) {
        *register = argument.register();
    }
    let [first, second, third, fourth, fifth, sixth] = registers;
    // SAFETY: pointers come from borrows that live until the call returns, every buffer is as
    // large as its call takes it to be, and no attempt passes a call that unmaps memory.
    let result = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Makes a system call that returns a new descriptor.
pub(crate) fn call_for_descriptor<const COUNT: usize>(
    number: libc::c_long,
    arguments: [Argument<'_>; COUNT],
) -> io::Result<OwnedFd> {
    let descriptor =
        RawFd::try_from(call(number, arguments)?).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The address of a buffer, for structures that hold pointers.
pub(crate) fn address_of(bytes: &mut [u8]) -> u64 {
    bytes.as_mut_ptr().expose_provenance() as u64
}
