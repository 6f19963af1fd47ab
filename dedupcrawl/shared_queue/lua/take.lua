-- ARGV: …, the command that takes, that which undoes it, the first lease, how many, how many leases end, these, and
-- those to be marked: what a worker has to say of earlier requests whenever it takes the next costs no round trip more.
local taken = {}
if has_forgotten then return {counted, taken} end
for at = 8, #ARGV do
  if at < 8 + ARGV[7] then redis.call('HDEL', KEYS[2], ARGV[at]) else mark(KEYS[2], ARGV[at]) end
end
for lease = tonumber(ARGV[5]), ARGV[5] + ARGV[6] - 1 do
  local data = redis.call(ARGV[3], KEYS[1])
  local undo = {ARGV[4], KEYS[1], data}
  if ARGV[4] == 'ZADD' then
    undo = {ARGV[4], KEYS[1], data[2], data[1]}
    data = data[1]
  end
  if not data then break end
  redis.call('HSET', KEYS[2], string.format('%d', lease), cmsgpack.pack(undo))
  taken[#taken + 1] = data
end
return {counted, taken}
