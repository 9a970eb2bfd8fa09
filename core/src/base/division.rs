//! Division of 64-bit numbers.

use super::features::SWEEP;

/// Whether to divide natively: if the processor can, or if size does not matter. The compiler's
/// routine takes 0.9 KiB on a 32-bit processor, and an entry needs at most one or two divisions.
const NATIVE: bool = SWEEP || usize::BITS == 64;

/// Number of bytes from `at` to the next multiple of `alignment`, which is not 0. Few formats
/// have alignments other than powers of two.
pub(crate) fn padding(at: u64, alignment: u64) -> u64 {
    let mask = alignment.wrapping_sub(1);
    if cfg!(not(any(feature = "any-alignment", test))) || alignment & mask == 0 {
        return at.wrapping_neg() & mask;
    }
    match div_rem(at, alignment) {
        Some((_, rest @ 1..)) => alignment.wrapping_sub(rest),
        _ => 0,
    }
}

/// Quotient and remainder; `None` if `divisor` is 0.
#[inline]
pub(crate) const fn div_rem(number: u64, divisor: u64) -> Option<(u64, u64)> {
    if !NATIVE {
        return bit_by_bit(number, divisor);
    }
    match (number.checked_div(divisor), number.checked_rem(divisor)) {
        (Some(quotient), Some(remainder)) => Some((quotient, remainder)),
        _ => None,
    }
}

const fn bit_by_bit(number: u64, divisor: u64) -> Option<(u64, u64)> {
    if divisor == 0 {
        return None;
    }
    let (mut quotient, mut remainder, mut rest) = (0_u64, 0_u64, number);
    let mut bits = u64::BITS;
    while bits > 0 {
        // A remainder that overflows is larger than any divisor.
        let over = remainder >> 63 != 0;
        remainder = remainder << 1 | rest >> 63;
        rest <<= 1;
        quotient <<= 1;
        if over || remainder >= divisor {
            remainder = remainder.wrapping_sub(divisor);
            quotient |= 1;
        }
        bits = bits.saturating_sub(1);
    }
    Some((quotient, remainder))
}

/// Quotient of a 64-bit number and a 32-bit divisor; `None` if the divisor is 0 or at least 2^31,
/// which no caller passes.
pub(crate) fn quotient(number: u64, divisor: u32) -> Option<u64> {
    if divisor == 0 || divisor >> 31 != 0 {
        return None;
    }
    match NATIVE {
        true => number.checked_div(u64::from(divisor)),
        false => Some(by_half(number, divisor)),
    }
}

/// Divides with a 32-bit remainder, in a third of the code of [`bit_by_bit`].
fn by_half(number: u64, divisor: u32) -> u64 {
    // Quotient bits move in as the number's bits move out.
    let (mut rest, mut remainder) = (number, 0_u32);
    for _ in 0..u64::BITS {
        remainder = remainder << 1 | u32::from(rest >> 63 != 0);
        rest <<= 1;
        if remainder >= divisor {
            remainder = remainder.wrapping_sub(divisor);
            rest |= 1;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn bitwise_division_matches_operator() {
        let numbers = [0, 1, 2, 3, 7, 10, 255, 256, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];
        for n in numbers {
            for d in numbers {
                let expected = n.checked_div(d).zip(n.checked_rem(d));
                assert_eq!(super::bit_by_bit(n, d), expected, "{n} / {d}");
                assert_eq!(super::div_rem(n, d), expected, "{n} / {d}");
            }
        }
    }

    #[test]
    fn division_by_halves_matches_operator() {
        let numbers = [0, 1, 2, 3, 7, 255, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX];
        for n in numbers {
            for d in [1, 2, 3, 7, 255, 0x7FFF_FFFE, 0x7FFF_FFFF] {
                assert_eq!(super::by_half(n, d), n / u64::from(d), "{n} / {d}");
                assert_eq!(super::quotient(n, d), Some(n / u64::from(d)), "{n} / {d}");
            }
        }
        assert_eq!((super::quotient(1, 0), super::quotient(1, 1 << 31)), (None, None));
    }
}
