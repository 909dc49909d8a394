import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Writes out, as types of their own, what TypeScript knows of the JSON that the operator's commands return. */

const INDENT = '  ';

/** Returns the text of an exported type of a file, with every type in it written out. */
export function writtenOut(path: string, name: string): string {
  const { config } = ts.readConfigFile('tsconfig.json', (file) => readFileSync(file, 'utf8'));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
  const program = ts.createProgram([path], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  const found = module && checker.getExportsOfModule(module).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${path} exports no type ${name}`);
  return written(checker.getDeclaredTypeOfSymbol(found), { checker, depth: 0 });
}

interface At {
  readonly checker: ts.TypeChecker;
  /** How far it is indented. */
  readonly depth: number;
}

/** Returns a type as JSON has it. */
function written(type: ts.Type, at: At): string {
  const { checker } = at;
  const { flags } = type;
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'unknown';
  if (type.isUnion()) return writtenUnion(type, at);
  if (!(flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return checker.typeToString(type);
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const items = checker.getTypeArguments(type as ts.TypeReference).map((item) => written(item, at));
    return `readonly (${[...new Set(items)].join(' | ')})[]`;
  }
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  if (index) return `Readonly<Record<string, ${written(index, at)}>>`;
  return writtenFields(type, at);
}

/** Null stands last; a field that may be undefined is left out of JSON, which its mark says. */
function writtenUnion({ types }: ts.UnionType, at: At): string {
  const isBoolean = types.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral).length === 2;
  const members = types
    .filter(({ flags }) => !(flags & ts.TypeFlags.Undefined))
    .map((member) =>
      isBoolean && member.flags & ts.TypeFlags.BooleanLiteral ? 'boolean' : written(member, at),
    );
  const sorted = [...new Set(members)].sort();
  return [...sorted.filter((one) => one !== 'null'), ...sorted.filter((one) => one === 'null')].join(' | ');
}

function writtenFields(type: ts.Type, { checker, depth }: At): string {
  const line = (symbol: ts.Symbol) => {
    const own = checker.getTypeOfSymbol(symbol);
    const isLeftOut = own.isUnion() && own.types.some(({ flags }) => flags & ts.TypeFlags.Undefined);
    const mark = isLeftOut || symbol.flags & ts.SymbolFlags.Optional ? '?' : '';
    const name = /^\w+$/.test(symbol.name) ? symbol.name : `'${symbol.name}'`;
    return `${INDENT.repeat(depth + 1)}readonly ${name}${mark}: ${written(own, { checker, depth: depth + 1 })};`;
  };
  return ['{', ...checker.getPropertiesOfType(type).map(line), `${INDENT.repeat(depth)}}`].join('\n');
}
