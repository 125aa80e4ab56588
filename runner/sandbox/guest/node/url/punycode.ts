import punycode from "punycode/";

/** `node:punycode`, deprecated, but still widely imported. */
export default { ...punycode };
