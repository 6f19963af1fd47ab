-- KEYS: …, leases, lessees, what is due, then for each change the hashes that it names. ARGV: …, for each change: row or '', number
-- of the row that it ends or '', that one's tombstone, how many cells follow, key of the premise that falls or '', whose
-- lease it must be or ''; of each cell the key of the premise that must be open or '', table, field and value; whether
-- attachments go or ''. Its hashes are those of its cells, of the skips of what falls, and of what is attached.
-- Nothing is done unless the client knows all rows.
if known < count then return {'behind', unknown_rows(), restored} end
local at, key, due = 2, 5, {}
local function argument() at = at + 1; return ARGV[at] end
local function hash() key = key + 1; return KEYS[key] end

while at < #ARGV do
  local row, ended, tombstone, cells, falls, owner =
    argument(), argument(), argument(), argument(), argument(), argument()
  if owner ~= '' and string.sub(redis.call('HGET', KEYS[3], falls) or '', 1, #owner) ~= owner then
    return {'other', {}, restored, {}}
  end
  if row ~= '' then
    redis.call('HSET', KEYS[2], count, row)
    count = count + 1
    if ended ~= '' then redis.call('HSET', KEYS[2], ended, tombstone) end
  end
  for _ = 1, cells do
    local premise, of, field, value, key_of_it = argument(), argument(), argument(), argument(), hash()
    if premise == '' or redis.call('HEXISTS', KEYS[3], premise) == 1 then set(key_of_it, of, field, value) end
    if of == 'leases' then redis.call('SADD', KEYS[4], string.sub(value, 1, 16)) end  -- who may count as dead
  end
  if falls ~= '' then
    local skips = hash()
    local hanging = redis.call('HGETALL', skips)
    for number = 1, #hanging, 2 do
      redis.call('HSET', KEYS[5], hanging[number], hanging[number + 1])
      due[#due + 1] = hanging[number + 1]
    end
    redis.call('DEL', skips)
    redis.call('HDEL', KEYS[3], falls)
  end
  if argument() ~= '' then clear(hash(), 'urls', BESIDE) end
end
return {'done', {}, restored, due}
