-- KEYS: meta, a hash. ARGV: its table, the beginning of the fields that go.
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(field, 1, #ARGV[2]) == ARGV[2] then
    redis.call('HDEL', KEYS[2], field)
    if ARGV[1] == 'urls' then redis.call('HINCRBY', KEYS[1], string.sub(field, 1, 1), -1) end
  end
end
