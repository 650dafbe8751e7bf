/**
 * The API's forms as types, made of the committed document. The work queue page knows what is published, and nothing else
 * of the server (docs/decisions/page.md): `npm run schemas` writes `page/api/schemas.ts`, and a test compares. The
 * client's package brings the types of every operation (`pack-client.ts`).
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
  'searchAnswer',
  'runStory',
  'storedReport',
  'storedRefusal',
];

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  summary: string;
  parameters?: readonly { name: string; in: string; required: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

type Content = Record<string, { schema: Schema }>;

/** The page's types. */
export function pageSchemas(document: object, needed: readonly string[] = NEEDED): string {
  const head = '/** Made of schemas/api.openapi.json by `npm run schemas`: not edited by hand. */\n';
  const types = printTypes(document, (refer) => {
    for (const name of needed) refer(name);
    return [];
  });
  return `${head}\n${types}\n`;
}

/** Every operation in the form that openapi-fetch takes, and the types that these refer to. */
export function pathTypes(document: object): string {
  const { paths: operations } = document as Document;
  const paths = toObject(mapEntries(operations, (methods) => toObject(mapEntries(methods, operationForm))));
  const types = printTypes(document, (refer) => [`export type paths = ${typeOf(paths, refer)};`]);
  // The types of openapi-fetch take a read-only list for an object: a program could not go through any.
  return `${types.replaceAll(/\breadonly (?=\(|unknown\[\])/g, '')}\n`;
}

/** Prints what `use` returns, and after it each type that it refers to, directly or not. */
function printTypes(document: object, use: (refer: (name: string) => string) => string[]): string {
  const { schemas } = (document as Document).components;
  const written = new Map<string, string>();
  const refer = (name: string) => {
    if (!written.has(name)) {
      const schema = schemas[name];
      if (!schema) throw new Error(`the document has no ${name}`);
      written.set(name, '');
      written.set(name, `export type ${typeName(name)} = ${typeOf(schema, refer)};`);
    }
    return typeName(name);
  };
  const first = use(refer);
  return [...first, ...[...written.keys()].sort().map((name) => written.get(name))].join('\n\n');
}

/** One operation as a form of its own: what it takes, and what it answers by status. */
function operationForm({ summary, parameters = [], requestBody, responses }: Operation): Schema {
  const places = ['path', 'query', 'header'].flatMap((place) => {
    const members = parameters.filter((parameter) => parameter.in === place);
    const forms = members.map(({ name, description, schema }) => [name, { ...schema, description }]);
    const required = members.filter((parameter) => parameter.required).map(({ name }) => name);
    return members.length > 0 ? [[place, toObject(Object.fromEntries(forms), required)] as const] : [];
  });
  const needed = places.filter(([, { required }]) => required?.length).map(([place]) => place);
  return toObject(
    {
      parameters: toObject(Object.fromEntries(places), needed),
      ...(requestBody && { requestBody: toContent(requestBody) }),
      responses: toObject(mapEntries(responses, toContent)),
    },
    undefined,
    summary,
  );
}

function toContent({ content = {}, description }: { content?: Content; description?: string }): Schema {
  return toObject({ content: toObject(mapEntries(content, ({ schema }) => schema)) }, undefined, description);
}

function toObject(
  properties: Record<string, Schema>,
  required = Object.keys(properties),
  description?: string,
): Schema {
  return { type: 'object', properties, required, description };
}

function mapEntries<T, U>(of: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value)]));
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
  return type === 'string' || type === 'boolean' || type === 'null' ? type : 'unknown';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
