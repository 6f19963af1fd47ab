"""What runs on the Redis server of a shared queue: each Lua script is one atomic step (see shared_queue.queue)."""

from __future__ import annotations

# KEYS: …, workers. ARGV: worker, how often it has told the server something with this, …
_COUNT = """
local counted = redis.call('HINCRBY', KEYS[#KEYS], ARGV[1], 1)
local has_forgotten = counted < tonumber(ARGV[2])
"""
PUSH = (
    _COUNT
    + """
if ARGV[3] ~= '' and redis.call('SADD', KEYS[1], ARGV[3]) == 0 then return {counted, 0} end
redis.call(ARGV[4], KEYS[2], unpack(ARGV, 5))
return {counted, 1}
"""
)
# A lease is the command that undoes it; before it a mark when the worker has got over what was leased.
_MARKED = """
local function is_marked(lease) return string.sub(lease, 1, 1) == '+' end
local function undo_of(lease) return cmsgpack.unpack(is_marked(lease) and string.sub(lease, 2) or lease) end
"""
_MARK = """
local function mark(leases, number)
  local lease = redis.call('HGET', leases, number)
  if lease and not is_marked(lease) then redis.call('HSET', leases, number, '+' .. lease) end
end
"""
# ARGV: …, the command that takes, that which undoes it, the first lease, how many, how many leases end, these, and
# those to be marked: what a worker has to say of earlier requests whenever it takes the next costs no round trip more.
TAKE = (
    _COUNT
    + _MARKED
    + _MARK
    + """
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
"""
)
PUT_BACK = (
    _MARKED
    + """
for _, number in ipairs(ARGV) do
  local lease = redis.call('HGET', KEYS[1], number)
  if lease then redis.call(unpack(undo_of(lease))) end
  redis.call('HDEL', KEYS[1], number)
end
"""
)
MARK = _MARKED + _MARK + "for _, number in ipairs(ARGV) do mark(KEYS[1], number) end"
# A page ends only where its links are.
RELEASE = (
    _COUNT
    + """
if not has_forgotten then redis.call('HDEL', KEYS[1], unpack(ARGV, 3)) end
return {counted, 0}
"""
)
COUNTED = frozenset({PUSH, TAKE, RELEASE})
RECLAIM = (
    _MARKED
    + """
local back, given_up = 0, 0
for _, worker in ipairs(redis.call('HKEYS', KEYS[1])) do
  if worker ~= ARGV[5] and redis.call('EXISTS', ARGV[1] .. worker) == 0 then
    local leases = ARGV[2] .. worker
    local cursor, found = '0', {}
    repeat  -- one call gives up after ten times as many buckets, which may all be empty by now
      local scan = redis.call('HSCAN', leases, cursor, 'COUNT', ARGV[3])
      cursor, found = scan[1], scan[2]
    until #found > 0 or cursor == '0'
    for i = 1, #found, 2 do
      local undo = undo_of(found[i + 1])
      if is_marked(found[i + 1])
        or redis.call('HINCRBY', KEYS[2], redis.sha1hex(undo[#undo]), 1) <= tonumber(ARGV[4]) then
        redis.call(unpack(undo))
        back = back + 1
      else
        given_up = given_up + 1
      end
      redis.call('HDEL', leases, found[i])
    end
    if redis.call('EXISTS', leases) == 0 then redis.call('HDEL', KEYS[1], worker) end
  end
end
return {back, given_up}
"""
)
