from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef uint64_t fmix64(uint64_t value) noexcept
cdef uint32_t murmur3_32(const uint8_t *data, Py_ssize_t size, uint32_t seed) noexcept
