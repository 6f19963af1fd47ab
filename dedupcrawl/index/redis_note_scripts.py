"""Lua scripts for what an index in Redis remembers besides pages; each is one atomic step."""

from __future__ import annotations

from dedupcrawl.index.redis_scripts import Script

RECORD = Script("""
-- KEYS: verdicts, newest by URL, clients, counters. ARGV: client, its count of records, URL digest, row.
if tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or 0) >= tonumber(ARGV[2]) then return end  -- sent twice
local number = redis.call('HINCRBY', KEYS[4], 'verdicts', 1)
redis.call('HSET', KEYS[1], number, ARGV[4])
redis.call('HSET', KEYS[2], ARGV[3], number)
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
""")

WITHDRAW = Script("""
-- KEYS: verdicts, newest by URL, restored, orphans, meta.
-- ARGV: URL digest, field of an orphan or '', the orphan, numbers.
local newest = redis.call('HGET', KEYS[1], ARGV[#ARGV])
if not newest then return 0 end  -- another process was quicker
for at = 4, #ARGV do redis.call('HDEL', KEYS[1], ARGV[at]) end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], newest)
redis.call('HSET', KEYS[5], 'restored', redis.call('HLEN', KEYS[3]))
if ARGV[2] ~= '' then redis.call('HSET', KEYS[4], ARGV[2], ARGV[3]) end
return 1
""")

DROP_OLDER = Script("""
-- KEYS: verdicts, newest by URL. ARGV: URL digest, number, URL digest, number, …
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[at]) ~= ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at + 1]) end
end
""")

RECORD_REWRITES = Script("""
-- KEYS: rewrites, keys and numbers of rewrites, counters. ARGV: a row, how many keys it has, these; another row, …
-- The first key of a row is its alone: the rows that have had it are replaced. Returns their numbers and themselves.
local replaced, at = {}, 1
while at <= #ARGV do
  local keys = tonumber(ARGV[at + 1])
  local own = '[' .. ARGV[at + 2]
  for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], own, own .. '\\255\\255\\255\\255')) do
    local number = struct.unpack('>I4', member, #member - 3)
    local older = redis.call('HGET', KEYS[1], number)
    if older then
      redis.call('HDEL', KEYS[1], number)
      replaced[#replaced + 1] = number
      replaced[#replaced + 1] = older
    end
  end
  local number = redis.call('HINCRBY', KEYS[3], 'rewrites', 1)
  redis.call('HSET', KEYS[1], number, ARGV[at])
  for key = at + 2, at + 1 + keys do redis.call('ZADD', KEYS[2], 0, ARGV[key] .. struct.pack('>I4', number)) end
  at = at + 2 + keys
end
return replaced
""")

FIRST_OF_RUN = Script("""
-- KEYS: what a run agreed on. ARGV: a name's digest, a value, seconds until it is forgotten when nobody asks.
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return redis.call('HGET', KEYS[1], ARGV[1])
""")

UPDATE_STATE = Script("""
-- KEYS: states. ARGV: field, new value, the value that was changed; without it there was none.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= (ARGV[3] or false) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
""")

ATTACH = Script("""
-- KEYS: what is attached to a URL, counters. ARGV: name, data.
if redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) == 1 then redis.call('HINCRBY', KEYS[2], 'attachments', 1) end
""")

ATTACH_NEW = Script("""
-- KEYS: what is attached to a URL, counters. ARGV: name, data. Returns what was there.
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 'attachments', 1)
  return false
end
return redis.call('HGET', KEYS[1], ARGV[1])
""")

DETACH = Script("""
-- KEYS: what is attached to a URL, counters. ARGV: the beginning of the names that go.
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(name, 1, #ARGV[1]) == ARGV[1] then
    redis.call('HDEL', KEYS[1], name)
    redis.call('HINCRBY', KEYS[2], 'attachments', -1)
  end
end
""")
