-- KEYS: meta, … What is known of URLs is counted there by its kind.
local function counted(of, field, more)
  if more ~= 0 and of == 'urls' then redis.call('HINCRBY', KEYS[1], string.sub(field, 1, 1), more) end
end

local function set(key, of, field, value)
  if value == '' then counted(of, field, -redis.call('HDEL', key, field))
  else counted(of, field, redis.call('HSET', key, field, value)) end
end

local function clear(key, of, beginning)
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, #beginning) == beginning then set(key, of, field, '') end
  end
end
