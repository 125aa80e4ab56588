import { afterAll, beforeAll, describe, it } from "vitest";
import { compare, expectSame, type Comparison, type Snippets } from "./node-comparison.ts";
import { shareSandbox, type SandboxFixture } from "../sandbox-fixture.ts";

const vm = `const vm = require("vm");`;

const snippets: Snippets = {
  "the value of the last statement": `${vm} print(vm.runInNewContext("1; 2 + 3"), vm.runInThisContext("'a' + 'b'"), new vm.Script("[x, y].join()").runInNewContext({ x: 1, y: "z" }), vm.runInNewContext("({ a: 1 }).a"), vm.runInNewContext("if (x) { 'yes' } else { 'no' }", { x: 0 }), vm.runInNewContext("// nothing"))`,
  "variables of the context": `${vm} const c = vm.createContext({ n: 1, o: { list: [] }, add: (a, b) => a + b }); vm.runInContext("n += 1; var total = add(n, 40); o.list.push(total); done = true; for (var i = 0; i < 3; i++); delete o.gone", c); print(Object.keys(c).sort(), c.n, c.total, c.o, c.done, c.i); vm.runInContext("function twice(x) { return 2 * x } class Hidden {} let alsoHidden = 1", c); print(vm.runInContext("twice(total)", c), typeof c.twice, "Hidden" in c, "alsoHidden" in c); print(vm.runInContext("total", c), vm.isContext(c), vm.isContext({}))`,
  "one script in several contexts": `${vm} const s = new vm.Script("count = (typeof count === 'undefined' ? 0 : count) + step"); const a = vm.createContext({ step: 1 }), b = vm.createContext({ step: 10 }); s.runInContext(a); s.runInContext(a); s.runInContext(b); print(a, b, typeof globalThis.count)`,
  "globals of the language, and none of Node": `${vm} print(vm.runInNewContext("[typeof Math, typeof JSON, typeof Map, typeof Promise, typeof parseInt, typeof Intl, typeof process, typeof require, typeof Buffer, typeof fetch, typeof setTimeout, typeof URL, typeof unknownName]"), vm.runInNewContext("Math.max(1, 2) + JSON.stringify([1])"), attempt(() => vm.runInNewContext("unknownName + 1")).message, vm.runInNewContext("'use strict'; known = 2; known + 1", { known: 1 }))`,
  "this and globalThis are the context": `${vm} const c = vm.createContext({ a: 1 }); print(vm.runInContext("this.a + globalThis.a", c), vm.runInContext("this.b = 2; globalThis.c = 3; b + c", c), c, vm.runInContext("(function () { return typeof a })()", c))`,
  "what is thrown": `${vm} for (const code of ["throw new TypeError('mine')", "null.x", "notThere()", "throw 5"]) print(attempt(() => vm.runInNewContext(code)).message); print(attempt(() => new vm.Script("var = 1")).threw, attempt(() => vm.runInNewContext("if (")).threw, attempt(() => vm.runInContext("1", {})).code, attempt(() => vm.createContext(1)).code, attempt(() => vm.isContext(1)).code, attempt(() => new vm.Script("1", { filename: 5 })).code)`,
  "closures live on": `${vm} const c = vm.createContext({ n: 1 }); const f = vm.runInContext("(function (x) { n += x; return n })", c); f(2); print(f(3), c.n); const g = vm.runInContext("let secret = 7; () => secret++", c); g(); print(g(), c.secret)`,
  "functions that are compiled": `${vm} const f = vm.compileFunction("return a + b + (typeof c === 'undefined' ? 0 : c)", ["a", "b"]); print(f(1, 2), f.length); const c = vm.createContext({ c: 10 }); print(vm.compileFunction("c += a; return c", ["a"], { parsingContext: c })(5), c.c, vm.compileFunction("return x + a", ["a"], { contextExtensions: [{ x: 1 }, { y: 2 }] })(1), attempt(() => vm.compileFunction("return (")).threw, attempt(() => vm.compileFunction(5)).code)`,
  "a module as Node wraps it": `${vm} const module = { exports: {} }; vm.runInThisContext("(function (exports, require, module) { exports.a = 1; module.exports.b = require(2); })", { filename: "x.js" })(module.exports, (x) => x * 2, module); print(module.exports)`,
  "templates of a library": `${vm} const render = (template, data) => vm.runInNewContext("\`" + template + "\`", { ...data, upper: (x) => x.toUpperCase() }); print(render("Hello \${upper(name)}, \${items.map((x) => x * 2).join('+')} = \${items.reduce((a, b) => a + 2 * b, 0)}", { name: "ann", items: [1, 2] })); const out = []; vm.runInNewContext("with (data) { for (var k in list) { print(k + list[k] + suffix) } }", { data: { list: { a: 1, b: 2 }, suffix: "!" }, print: (x) => out.push(x) }); print(out); print(new vm.Script("_$_v.price < 10 && _$_v.category === 'x'").runInNewContext({ _$_v: { price: 3, category: "x" } }))`,
  "names that stand in texts": `${vm} print(vm.runInNewContext("'a = 1, b++, function c() {}'"), attempt(() => vm.runInNewContext("c()")).threw, vm.runInNewContext("var a = { b: 1, c: 2 }; var { b } = a; b + a.c"), vm.runInNewContext("[x, y] = [1, 2]; x + y", { x: 0, y: 0 }))`,
  members: `${vm} print(typeof vm.Script, vm.Script.name, typeof vm.createScript, Object.keys(vm.constants), vm.isContext(vm.createContext()), vm.isContext(vm.createContext(vm.constants.DONT_CONTEXTIFY)), new vm.Script("1").createCachedData() instanceof Uint8Array)`,
};

let fixture: SandboxFixture;
let results: Comparison;
beforeAll(async () => {
  fixture = await shareSandbox();
  results = await compare(fixture, snippets);
});
afterAll(() => fixture.stop());

describe("vm prints the same in the sandbox as in Node:", () => {
  it.each(Object.keys(snippets))("%s", (name) => expectSame(results, name));
});
