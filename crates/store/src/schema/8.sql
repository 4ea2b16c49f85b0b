-- What its user calls the campaign; null where nothing was said. It can be changed at any time, so no digest covers it.
ALTER TABLE campaign ADD COLUMN label TEXT;
