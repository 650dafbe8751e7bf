/**
 * The API's forms as types for the work queue page, made of the committed document: the page knows what is published and
 * nothing else of the server (docs/decisions/page.md). `npm run schemas` writes `page/api/schemas.ts`; a test compares.
 */
interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: string[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: Schema | boolean;
}

/** What the page reads and sends; what these refer to follows. */
const NEEDED = [
  'problem',
  'holdList',
  'holdCounts',
  'seen',
  'sameDecision',
  'decidedMany',
  'inquiriesPage',
  'session',
  'searchResult',
  'runStory',
  'storedReport',
  'storedRefusal',
];

export function pageSchemas(document: object, needed: readonly string[] = NEEDED): string {
  const { schemas } = (document as { components: { schemas: Record<string, Schema> } }).components;
  const written = new Map<string, string>();
  const write = (name: string) => {
    if (written.has(name)) return;
    const schema = schemas[name];
    if (!schema) throw new Error(`the document has no ${name}`);
    written.set(name, '');
    const refer = (target: string) => {
      write(target);
      return typeName(target);
    };
    written.set(name, `export type ${typeName(name)} = ${typeOf(schema, refer)};`);
  };
  for (const name of needed) write(name);
  const head = '/** Made of schemas/api.openapi.json by `npm run schemas`: not edited by hand. */\n';
  return `${head}\n${[...written.keys()]
    .sort()
    .map((name) => written.get(name))
    .join('\n\n')}\n`;
}

function typeName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function typeOf(schema: Schema, refer: (name: string) => string): string {
  const { $ref, type, properties, items } = schema;
  if ($ref) return refer($ref.split('/').at(-1) ?? '');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const choices = type === undefined || type === 'object' ? (schema.anyOf ?? schema.oneOf) : undefined;
  if (choices && !properties) return choices.map((one) => typeOf(one, refer)).join(' | ');
  if (type === 'array') return items ? `readonly (${typeOf(items, refer)})[]` : 'readonly unknown[]';
  if (type === 'object' && properties) {
    const members = Object.entries(properties).map(([name, member]) => {
      const isRequired = schema.required?.includes(name) ?? false;
      const says = member.description ? `/** ${member.description} */\n` : '';
      return `${says}${/^\w+$/.test(name) ? name : literal(name)}${isRequired ? '' : '?'}: ${typeOf(member, refer)};`;
    });
    return `{\n${members.join('\n')}\n}`;
  }
  if (type === 'object') {
    const of = schema.additionalProperties;
    return `Record<string, ${typeof of === 'object' ? typeOf(of, refer) : 'unknown'}>`;
  }
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'string' || type === 'boolean' ? type : 'unknown';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
