-- A lease is the command that undoes it; before it a mark when the worker has got over what was leased.
local function is_marked(lease) return string.sub(lease, 1, 1) == '+' end
local function undo_of(lease) return cmsgpack.unpack(is_marked(lease) and string.sub(lease, 2) or lease) end
