// Stands in for `@exodus/bytes/encoding.js`: URLs of components are UTF-8, so no other encoding is needed.
export {};
