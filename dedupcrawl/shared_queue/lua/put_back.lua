for _, number in ipairs(ARGV) do
  local lease = redis.call('HGET', KEYS[1], number)
  if lease then redis.call(unpack(undo_of(lease))) end
  redis.call('HDEL', KEYS[1], number)
end
