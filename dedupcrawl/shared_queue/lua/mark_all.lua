for _, number in ipairs(ARGV) do mark(KEYS[1], number) end
