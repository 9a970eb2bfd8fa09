// The types match the code: they compile, a program that uses all of them
// compiles, and every declared method exists.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import ts from 'typescript';
import * as weighbridge from '../dist/index.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const program = ts.createProgram([path('types.ts'), path('../dist/index.d.ts')], {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: false,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: [],
});

test('the types and a program that uses them compile', () => {
  const faults = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? '' : `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}: `;
    return line + ts.flattenDiagnosticMessageText(messageText, '\n');
  });
  assert.deepEqual(faults, []);
});

/** Names of the members of a class or an interface. */
function members(file, name) {
  const source = program.getSourceFile(path(`../dist/${file}`));
  const found = source.statements.find((it) => (ts.isInterfaceDeclaration(it) || ts.isClassDeclaration(it)) && it.name.text === name);
  assert.ok(found, `${name} is declared`);
  return found.members.filter(({ name }) => name !== undefined && !ts.isPrivateIdentifier(name)).map(({ name }) => name.text);
}

/** Names of an object's methods, accessors and fields, with those that its class inherits. */
function written(instance) {
  const names = new Set(Object.keys(instance));
  for (let of = Object.getPrototypeOf(instance); of !== Object.prototype; of = Object.getPrototypeOf(of)) {
    Object.getOwnPropertyNames(of).forEach((name) => names.add(name));
  }
  return [...names].filter((name) => name !== 'constructor');
}

test('what is declared is there, and nothing else', async () => {
  const { Document } = await weighbridge.load('full');
  const { Statistics, Heatmap, Difference, Gauge } = await weighbridge.load('compute');
  const document = new Document(0n);
  const declared = [...members('document.d.ts', 'Document'), ...members('joint.d.ts', 'JointDocument')];
  assert.deepEqual(written(document).sort(), declared.sort());
  for (const [instance, name] of [
    [new Statistics('f32'), 'Statistics'],
    [new Heatmap('f32', 'little', BigUint64Array.of(2n, 2n), 0, 1, BigUint64Array.of(0n, 0n), 2, 2), 'Heatmap'],
    [new Difference('f32', 'little', 'f32', 'little'), 'Difference'],
    [new Gauge('f32'), 'Gauge'],
  ]) {
    assert.deepEqual(written(instance).sort(), members('accumulators.d.ts', name).sort(), name);
    instance.free();
  }
  for (const [flavour, ...names] of [['base', 'Library'], ['full', 'Library', 'FullLibrary'], ['compute', 'ComputeLibrary'], ['summary', 'SummaryLibrary']]) {
    const declared = new Set(names.flatMap((name) => members('index.d.ts', name)));
    assert.deepEqual(Object.keys(await weighbridge.load(flavour)).sort(), [...declared].sort(), flavour);
  }
  document.free();
  const functions = program
    .getSourceFile(path('../dist/index.d.ts'))
    .statements.filter(ts.isFunctionDeclaration)
    .map((it) => it.name.text);
  assert.deepEqual([...new Set(functions)].sort(), Object.keys(weighbridge).sort());
});
