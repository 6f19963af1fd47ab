-- KEYS: …, leases, skips of a premise, due ones, what is known of a URL. ARGV: row or '', tokens, number of the row that it ends,
-- that one's tombstone, key of the premise that falls or '', whose lease it must be or '', '1' if attachments go.
if known < count then return {'behind', unknown_rows(), restored} end
if ARGV[8] ~= '' and string.sub(redis.call('HGET', KEYS[4], ARGV[7]) or '', 1, #ARGV[8]) ~= ARGV[8] then
  return {'other', {}, restored, {}}
end
if ARGV[3] ~= '' then append(ARGV[3], ARGV[4], ARGV[5], ARGV[6]) end
for _, field in ipairs(ARGV[9] == '1' and redis.call('HKEYS', KEYS[7]) or {}) do
  if string.sub(field, 1, 1) == BESIDE then
    redis.call('HDEL', KEYS[7], field)
    redis.call('HINCRBY', KEYS[1], BESIDE, -1)
  end
end
local due = {}
if ARGV[7] ~= '' then
  local skips = redis.call('HGETALL', KEYS[5])
  for at = 1, #skips, 2 do
    redis.call('HSET', KEYS[6], skips[at], skips[at + 1])
    due[#due + 1] = skips[at + 1]
  end
  redis.call('DEL', KEYS[5])
  redis.call('HDEL', KEYS[4], ARGV[7])
end
return {'done', {}, restored, due}
