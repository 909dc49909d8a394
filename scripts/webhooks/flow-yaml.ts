import { Document, visit } from 'yaml';

const LINE_WIDTH = 110;

/** Writes a document as YAML below a comment: what fits on a line stands on one. */
export function flowYaml(head: string, contents: object): string {
  const document = new Document(contents, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node, path) {
      const fits = JSON.stringify(node.toJSON()).length + 2 * path.length < LINE_WIDTH;
      if (fits && node.items.length > 0) node.flow = true;
    },
  });
  return head + document.toString({ lineWidth: LINE_WIDTH + 10, flowCollectionPadding: true });
}
