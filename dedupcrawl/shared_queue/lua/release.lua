-- A page ends only where its links are.
if not has_forgotten then redis.call('HDEL', KEYS[1], unpack(ARGV, 3)) end
return {counted, 0}
