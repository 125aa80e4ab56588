/**
 * What a component gets for `import … from "@pipedream/platform"`: our own implementation of the exports that public components use.
 * Everything here runs inside the isolate. Only what is imported ends up in the bundle. It contains no code of that package, which is not free
 * software. axios is installed under a name of its own, so that a component's `axios@0.27` and this one do not affect each other.
 */
export { axios, axios as default } from "./axios.ts";
export { transformConfigForOauth } from "./oauth.ts";
export { ConfigurationError } from "./configuration-error.ts";
export { DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from "./constants.ts";
export { jsonStringifySafe } from "./json.ts";
export { getFileStream, getFileStreamAndMetadata } from "./files.ts";
export { sqlProp, sqlProxy } from "./sql.ts";
export { defineAction, defineApp, defineSource } from "./types.ts";
