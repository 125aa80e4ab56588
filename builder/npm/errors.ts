import type { ErrorCode } from "../../domain/error-codes.ts";
import { HeadwaterError, Unavailable } from "../../domain/errors.ts";
import { refuseAt, refuse } from "../errors.ts";
import type { Modules } from "../scan/modules.ts";
import type { Import } from "../scan/scan.ts";

/** Converts errors of npm's libraries into errors that the component's author, or the registry's operator, can act on. */
export function explainInstall(error: unknown, modules: Modules, imports: readonly Import[]): Error {
  if (error instanceof HeadwaterError) return error;
  const failure = parseFailure(error);
  const name = failure.package;
  const at = (errorCode: ErrorCode, message: string): Error => {
    // A package that no module imports by name is a dependency of another one: its line is that of the package that depends on it.
    const found = [name, failure.requiredBy]
      .map((wanted) => imports.find(({ specifier }) => specifier.kind === "package" && specifier.name === wanted))
      .find((each) => each !== undefined);
    const details = name === undefined ? {} : { package: name };
    return found ? refuseAt(errorCode, message, modules, found.place, details) : refuse(errorCode, message, details);
  };
  const wantedBy = failure.requiredBy ? ` (wanted by ${failure.requiredBy})` : "";
  switch (failure.code) {
    case "E404":
      return at("package_not_found", `package ${name ?? "?"} is not in the npm registry${wantedBy}: check its name`);
    case "ETARGET":
    case "ENOVERSIONS":
      return at(
        "version_not_found",
        `package ${name ?? "?"} has no version matching "${failure.wanted ?? "latest"}"${wantedBy}${failure.latest ? `; the latest is ${failure.latest}` : ""}`,
      );
    case "E401":
    case "E403":
      return at(
        "package_forbidden",
        `the registry refuses package ${name ?? "?"} (${failure.code.slice(1)}): the credentials in npm's configuration do not give access to it`,
      );
    case "ERESOLVE":
      return at(
        "peer_conflict",
        `the packages have conflicting peer dependencies: ${failure.message}; import a version that fits, such as "package@^1"`,
      );
    case "EBADPLATFORM":
      return at("package_refused", `package ${name ?? "?"} is not made for this platform`);
    case "EINTEGRITY":
    case "Z_DATA_ERROR":
      return at(
        "integrity_mismatch",
        `package ${name ?? "?"} does not match its integrity hash: build again without the lockfile if you trust the registry`,
      );
    case "EALLOWGIT":
    case "EALLOWREMOTE":
    case "EALLOWFILE":
    case "EALLOWDIRECTORY":
    case "EUNSUPPORTEDPROTOCOL":
      return at("package_refused", outsideRegistry(failure));
    default:
      return isUnreachable(failure)
        ? new Unavailable(
            `the npm registry cannot be reached (${failure.code ?? "no answer"}${failure.host ? ` from ${failure.host}` : ""}): try again, or check the registry in npm's configuration`,
            { code: "registry_unreachable", cause: error },
          )
        : isOurs(failure)
          ? new Unavailable(`installing the packages failed: ${failure.message}`, { code: "install_failed", cause: error })
          : // The remaining failures are caused by a package's metadata or content: a retry does not help.
            at("package_refused", `the packages cannot be installed: ${reasonOf(failure)}`);
  }
}

/** A dependency on a folder, an archive, a Git repository, a link or a workspace. */
function outsideRegistry({ spec, message, requiredBy }: Failure): string {
  const what = spec ?? /Unsupported URL Type "[^"]*": (.*)$/.exec(message)?.[1] ?? "another package";
  const who = requiredBy ?? "a package";
  return `${who} depends on ${withoutCredentials(what)}, which is not in the npm registry, and only packages of the registry can be installed: import another version of ${requiredBy ?? "it"}, or another package`;
}

/** npm looks up what a package accepts by the name of the dependency, and finds a property of every object for some names. */
const reasonOf = ({ message }: Failure): string =>
  message.startsWith("accept field must be a string")
    ? "one of them depends on a package named like a property of every JavaScript object (constructor, toString, …), which npm cannot install; import another version of it, or another package"
    : message;

interface Failure {
  readonly code?: string;
  readonly message: string;
  readonly package?: string;
  readonly wanted?: string;
  readonly latest?: string;
  readonly spec?: string;
  readonly requiredBy?: string;
  readonly host?: string;
}

/** Fields that npm's errors carry, each where one of its libraries puts it. */
function parseFailure(error: unknown): Failure {
  // Every field is checked before it is used.
  const fields = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const text = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value.slice(0, maxCharacters) : undefined;
  const uri = text(fields["uri"]) ?? text(fields["url"]);
  const host = uri && URL.canParse(uri) ? new URL(uri).host : undefined;
  const spec = text(fields["package"]) ?? text(fields["spec"]) ?? text(fields["pkgid"]);
  const packument = fields["distTags"];
  const latest = typeof packument === "object" && packument !== null && "latest" in packument ? text(packument.latest) : undefined;
  const failure = {
    code: text(fields["code"]),
    message: withoutPaths(withoutCredentials(text(fields["message"]) ?? "npm gave no reason")),
    host,
    spec,
    latest,
    wanted: text(fields["wanted"]),
    package: packageOf(fields, uri, spec),
    requiredBy: requirer(text(fields["requiredBy"])),
  };
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== undefined)) as unknown as Failure;
}

/** Of what packages say of themselves, in an error. */
const maxCharacters = 200;

/** Messages do not reveal the builder's paths. */
const withoutPaths = (message: string): string => message.replaceAll(/(?:, \w+)? '\/[^']*'?(?: -> '[^']*'?)?/g, "");

/** A registry's address may hold a name and a password. */
const withoutCredentials = (message: string): string => message.replaceAll(/\/\/[^/\s@]*@/g, "//");

function packageOf(fields: Record<string, unknown>, uri: string | undefined, spec: string | undefined): string | undefined {
  // `name@npm:real@range` for aliases: the real name is what the user wrote.
  const fromSpec = /^(?:.*@npm:)?((?:@[^/@]+\/)?[^/@]+)(?:@|$)/.exec(spec ?? "")?.[1];
  if (fromSpec) return fromSpec;
  if (typeof fields["name"] === "string" && fields["type"] !== undefined) return fields["name"];
  return uri && URL.canParse(uri) ? decodeURIComponent(new URL(uri).pathname.slice(1)).replace(/\/-\/.*$/, "") : undefined;
}

const requirer = (location: string | undefined): string | undefined =>
  location?.split("node_modules/").pop()?.replace(/^\.$/, "") || undefined;

/** The disk, the memory or the rights of the builder, or its program's end. */
function isOurs({ code = "" }: Failure): boolean {
  return /^(ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM|EROFS|EACCES|EPERM|ERR_ACCESS_DENIED|ERR_IPC|EINSTALL)/.test(code);
}

function isUnreachable({ code = "", message }: Failure): boolean {
  return (
    /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ERR_SOCKET|FETCH_ERROR|E5\d\d|E429|EIDLETIMEOUT|ECONNECTIONTIMEOUT|ERESPONSETIMEOUT|ETRANSFERTIMEOUT|UNABLE_TO|CERT_|DEPTH_ZERO|SELF_SIGNED|ABORT_ERR)/.test(
      code,
    ) || /socket hang up|network|aborted/i.test(message)
  );
}
