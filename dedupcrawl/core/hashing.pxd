from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from *:
    ctypedef unsigned long long uint128_t "unsigned __int128"

cdef enum:
    PRIME_BITS = 61


cdef inline uint64_t fmix64(uint64_t value) noexcept:
    """The finalizer of MurmurHash3 x64 128: every bit of the input changes half of the output's."""
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    value *= <uint64_t>0xC4CEB9FE1A85EC53
    return value ^ value >> 33


cdef inline size_t slot_of(uint64_t key, uint64_t odd, int bits) noexcept:
    """Where a key stands in a table of 2 to the power of `bits` slots: multiply-shift (Dietzfelbinger et al. 1997).

    By an odd number that is chosen anew in each process it cannot be foreseen by who makes pages.
    """
    return key * odd >> 64 - bits


cdef inline uint64_t modulo_prime(uint64_t value) noexcept:
    """Modulo 2^61 − 1, of a number below twice that."""
    cdef uint64_t prime = (<uint64_t>1 << PRIME_BITS) - 1
    return value - prime if value >= prime else value


cdef inline uint64_t times_plus(uint64_t one, uint64_t other, uint64_t more) noexcept:
    """A number that is one · other + more modulo 2^61 − 1, and less than `more` above that modulus or `one`.

    This is done for each letter of a word, so only what comes out at last is reduced, by `modulo_prime`.
    """
    cdef uint128_t product = <uint128_t>one * other
    cdef uint64_t prime = (<uint64_t>1 << PRIME_BITS) - 1
    return modulo_prime((<uint64_t>product & prime) + <uint64_t>(product >> PRIME_BITS)) + more


cdef inline uint64_t folded(uint128_t value) noexcept:
    """A number below 2^123, modulo 2^61 − 1 but for a few more."""
    cdef uint64_t prime = (<uint64_t>1 << PRIME_BITS) - 1
    cdef uint64_t half = (<uint64_t>value & prime) + <uint64_t>(value >> PRIME_BITS)
    return (half & prime) + (half >> PRIME_BITS)


cdef uint32_t murmur3_32(const uint8_t *data, Py_ssize_t size, uint32_t seed) noexcept
cdef uint64_t keyed_hash(const uint8_t *data, Py_ssize_t size, uint64_t context) noexcept
