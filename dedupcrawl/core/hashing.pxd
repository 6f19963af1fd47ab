cpdef unsigned long long fmix64(unsigned long long value) noexcept nogil
