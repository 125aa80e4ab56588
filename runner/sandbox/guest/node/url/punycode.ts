import punycode from "punycode/";

/** `node:punycode`, deprecated, and still imported by many. */
export default { ...punycode };
