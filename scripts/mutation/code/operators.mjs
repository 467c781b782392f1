// @ts-check
// What can be wrong at one place of a program text, by kind of mistake. Places are nodes of
// TypeScript's syntax tree.
import ts from 'typescript'

/** @typedef {{ start: number, end: number, text: string }} Edit */
const { SyntaxKind } = ts

/** Other operators that a tired author may have written. @type {Readonly<Partial<Record<ts.SyntaxKind, string>>>} */
const OTHER = {
  [SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [SyntaxKind.LessThanToken]: '<=',
  [SyntaxKind.LessThanEqualsToken]: '<',
  [SyntaxKind.GreaterThanToken]: '>=',
  [SyntaxKind.GreaterThanEqualsToken]: '>',
  [SyntaxKind.AmpersandAmpersandToken]: '||',
  [SyntaxKind.BarBarToken]: '&&',
  [SyntaxKind.PlusToken]: '-',
  [SyntaxKind.MinusToken]: '+',
}
const isBoolean = (/** @type {ts.Node} */ node) => node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword

/** @param {ts.Node} node @param {string} text @returns {Edit} */
const replaced = (node, text) => ({ start: node.getStart(), end: node.getEnd(), text })

/** @param {ts.Node} condition */
const conditions = (condition) => [replaced(condition, '(true)'), replaced(condition, '(false)')]

/** What each operator makes of a node. @type {Record<string, (node: ts.Node) => Edit[]>} */
export const OPERATORS = {
  'statement dropped': (node) => {
    if (!ts.isExpressionStatement(node) && !(ts.isReturnStatement(node) && node.expression === undefined)) return []
    if (
      ts.isExpressionStatement(node) &&
      ts.isCallExpression(node.expression) &&
      node.expression.expression.kind === SyntaxKind.SuperKeyword
    )
      return []
    return [replaced(node, ';')]
  },
  'condition decided': (node) => {
    if (ts.isIfStatement(node)) return conditions(node.expression)
    return ts.isConditionalExpression(node) ? conditions(node.condition) : []
  },
  'operator exchanged': (node) => {
    if (!ts.isBinaryExpression(node)) return []
    const other = OTHER[node.operatorToken.kind]
    return other === undefined ? [] : [replaced(node.operatorToken, other)]
  },
  'default dropped': (node) =>
    ts.isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken
      ? [{ start: node.left.getEnd(), end: node.right.getEnd(), text: '!' }]
      : [],
  'boolean turned': (node) =>
    isBoolean(node) && !ts.isLiteralTypeNode(node.parent) ? [replaced(node, node.getText() === 'true' ? 'false' : 'true')] : [],
  'negation dropped': (node) =>
    ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken
      ? [replaced(node, `(${node.operand.getText()})`)]
      : [],
  'filter dropped': (node) =>
    ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'filter'
      ? [replaced(node, node.expression.expression.getText())]
      : [],
}
