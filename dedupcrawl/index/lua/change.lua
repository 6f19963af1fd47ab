-- KEYS: …, for each given cell and then for each that is changed its hash, what was done. ARGV: seconds that these hashes last
-- or 0, how many cells are given, the field of each and its value or '' for none; of each that is changed its table,
-- field and value or ''; then '' or a number under which this is done once, which lies under the last key for an hour.
-- Returns the values of those given unless they are as they should be.
local first, last, done = 2 + tonumber(ARGV[2]), #KEYS - 1, ARGV[#ARGV]
if done ~= '' and redis.call('GET', KEYS[#KEYS]) == done then return false end
local there, holds = {}, true
for cell = 1, first - 2 do
  there[cell] = redis.call('HGET', KEYS[1 + cell], ARGV[1 + 2 * cell])
  holds = holds and (there[cell] or '') == ARGV[2 + 2 * cell]
end
for number = first, holds and last or 0 do
  local at = 2 * first + 3 * (number - first) - 1
  set(KEYS[number], ARGV[at], ARGV[at + 1], ARGV[at + 2])
end
if ARGV[1] ~= '0' then
  for number = first, last do redis.call('EXPIRE', KEYS[number], ARGV[1]) end
end
if holds and done ~= '' then redis.call('SET', KEYS[#KEYS], done, 'EX', 3600) end
return not holds and there
