import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LinkedList, ListNode } from '../../services/process/linked-list.ts';

class Node extends ListNode<Node> {}

it('two linked lists behave like two Sets, with each node in one at most', () => {
  const step = fc.tuple(fc.constantFrom('append', 'remove', 'clear'), fc.nat(1), fc.nat(7));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const nodes = Array.from({ length: 8 }, () => new Node());
      const lists = [new LinkedList<Node>(), new LinkedList<Node>()] as const;
      const sets = [new Set<Node>(), new Set<Node>()] as const;
      for (const [what, at, which] of steps) {
        const list = lists[at as 0 | 1];
        const set = sets[at as 0 | 1];
        const node = nodes[which] as Node;
        if (what === 'append') {
          list.append(node);
          sets[(1 - at) as 0 | 1].delete(node);
          set.add(node);
        } else if (what === 'remove') {
          list.remove(node);
          set.delete(node);
        } else {
          list.clear();
          set.clear();
        }
        for (const i of [0, 1] as const) {
          expect(lists[i].nodes()).toEqual([...sets[i]]);
          expect(lists[i].size).toBe(sets[i].size);
          expect(lists[i].first).toBe([...sets[i]][0] ?? null);
        }
      }
    }),
  );
});

it('a node that has left a linked list points to no other', () => {
  const [a, b, c] = [new Node(), new Node(), new Node()];
  const list = new LinkedList<Node>();
  for (const node of [a, b, c]) list.append(node);
  list.remove(b);
  expect([b.before, b.after, b.list]).toEqual([null, null, null]);
  expect(list.nodes()).toEqual([a, c]);
});
