/** Error codes of the kinds of endpoints: for events, and for operational notices. */
export const KIND_CODES = {
  type_not_of_kind: {
    status: 422,
    title: 'This type is not of the endpoint’s kind',
    hint: 'An endpoint of kind events takes event types, one of kind operational the types of notices.',
  },
  format_not_of_kind: {
    status: 422,
    title: 'An endpoint for events has no format of notices',
    hint: 'Send kind: operational with format, or leave format out.',
  },
} as const;
