import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { call, memory, words } from "./kernel.ts";
import type { JailRules } from "./rules.ts";

/** landlock(7). */
const O_PATH = 0x200000;
const LANDLOCK_CREATE_RULESET_VERSION = 1;
const LANDLOCK_RULE_PATH_BENEATH = 1;
const LANDLOCK_RULE_NET_PORT = 2;
const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const ofFiles = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
/** Rights on files by the version of Landlock that knows them, from 1. */
const fileRights = [(1n << 13n) - 1n, REFER, TRUNCATE, 0n, 1n << 15n];
const LANDLOCK_ACCESS_NET_BIND_TCP = 1n;
const LANDLOCK_ACCESS_NET_CONNECT_TCP = 2n;
const LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1n;
const LANDLOCK_SCOPE_SIGNAL = 2n;
/** The first version that permits to rename files from one directory to another. */
const renamingVersion = 2;
const networkVersion = 4;
const scopeVersion = 6;

/**
 * Permits what the rules name; no other access to files, no listening and no connections but to their ports, no signals or abstract
 * sockets of other processes.
 */
export function restrictFiles({ kind, readable, listable = [], writable, executable, tcpPorts }: JailRules): void {
  const version = call("landlock_create_ruleset", null, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (kind === "install" && version < renamingVersion)
    throw new Error(`its Landlock, version ${version}, cannot permit npm to rename files: Linux 5.19 or later can`);
  const handled = fileRights.slice(0, version).reduce((sum, right) => sum | right, 0n);
  const network = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP;
  const attributes = words(handled, network, LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL);
  const size = version >= scopeVersion ? 24 : version >= networkVersion ? 16 : 8;
  const ruleset = call("landlock_create_ruleset", attributes, size, 0);
  const grant = (path: string, rights: bigint): void => grantBeneath(ruleset, path, rights & handled);
  for (const path of listable) grant(path, READ_DIR);
  for (const path of readable) grant(path, READ_FILE | READ_DIR);
  for (const path of writable)
    grant(path, READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | MAKE_DIR | MAKE_REG | REMOVE_DIR | REMOVE_FILE | REFER);
  for (const path of executable) grant(path, READ_FILE | EXECUTE);
  if (version >= networkVersion) for (const port of tcpPorts) grantPort(ruleset, port);
  call("landlock_restrict_self", ruleset, 0);
  closeSync(ruleset);
}

/** A path that does not exist is ignored. @throws Error if it cannot be read */
function grantBeneath(ruleset: number, path: string, rights: bigint): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  accessSync(path, constants.R_OK);
  const descriptor = openSync(path, O_PATH);
  const rule = memory(12);
  rule.writeBigUInt64LE(stat.isDirectory() ? rights : rights & ofFiles, 0);
  rule.writeInt32LE(descriptor, 8);
  call("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0);
  closeSync(descriptor);
}

function grantPort(ruleset: number, port: number): void {
  call("landlock_add_rule", ruleset, LANDLOCK_RULE_NET_PORT, words(LANDLOCK_ACCESS_NET_CONNECT_TCP, BigInt(port)), 0);
}
