/** Lists the members of an applicant, as the published schema has them. */
import { z } from 'zod';
import { applicantsSchema } from '../../src/fields/applicant-schemas.ts';

interface Node {
  items?: Node;
  properties?: Record<string, Node>;
}

const { $defs } = z.toJSONSchema(applicantsSchema, { io: 'input' });

/** JSON pointers of every text in an applicant. Each list has one entry, such as `/names/0/first`. */
export const APPLICANT_MEMBERS: readonly string[] = listTexts($defs?.applicant as Node);

function listTexts(node: Node, path = ''): string[] {
  if (node.items) return listTexts(node.items, `${path}/0`);
  if (!node.properties) return [path];
  return Object.entries(node.properties).flatMap(([name, inner]) => listTexts(inner, `${path}/${name}`));
}
