import { guest } from "../globals.ts";
import promises from "./timers-promises.ts";

/** `node:timers`. */
export default {
  setTimeout: guest.setTimeout,
  setInterval: guest.setInterval,
  setImmediate: guest.setImmediate,
  clearTimeout: guest.clearTimeout,
  clearInterval: guest.clearInterval,
  clearImmediate: guest.clearImmediate,
  promises,
};
