/** What a component throws when its props are wrong, rather than its code: the message is meant for who configured it. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}
