-- KEYS: …, a hash. ARGV: its table, the beginning of the fields that go.
clear(KEYS[2], ARGV[1], ARGV[2])
